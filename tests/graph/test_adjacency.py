import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tvgnn.errors import GraphError
from tvgnn.graph.adjacency import Adjacency
from tvgnn.graph.graph import Graph

PATH = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])


def dense(adjacency, dtype=torch.float64):
    """Square matrix with duplicates summed."""
    index = (adjacency.rows(), adjacency.indices.long())
    return torch.zeros(adjacency.shape, dtype=dtype).index_put(index, adjacency.weights(dtype), accumulate=True)


def dense_from_columns(adjacency):
    """The same matrix, read through the transposed lists."""
    lists = adjacency.transposed
    columns = torch.repeat_interleave(torch.arange(adjacency.num_nodes), lists.indptr.diff().long())
    weights = adjacency.weights(torch.float64)[lists.perm.long()]
    return torch.zeros(adjacency.shape, dtype=torch.float64).index_put(
        (lists.indices.long(), columns), weights, accumulate=True
    )


class TestFromEdgeIndex:
    def test_first_row_aggregates(self):
        adjacency = Adjacency.from_edge_index(torch.tensor([[2, 0, 2], [1, 2, 0]]), torch.tensor([5.0, 6.0, 7.0]), 4)
        assert adjacency.indptr.tolist() == [0, 1, 1, 3, 3]
        assert adjacency.indices.tolist() == [2, 1, 0]
        assert adjacency.values.tolist() == [6, 5, 7]
        assert adjacency.indices.dtype == torch.int32
        assert not adjacency.symmetric
        assert (adjacency.num_nodes, adjacency.num_entries, adjacency.shape) == (4, 3, (4, 4))

    def test_plain_edges_are_never_taken_as_symmetric(self):
        assert not Adjacency.from_edge_index(PATH, None, 3).symmetric

    @pytest.mark.parametrize("nodes", [0, 1, 5])
    def test_no_edges(self, nodes):
        adjacency = Adjacency.from_edge_index(torch.empty(2, 0, dtype=torch.int64), None, nodes)
        assert adjacency.indptr.tolist() == [0] * (nodes + 1)
        assert adjacency.degrees(torch.float64).tolist() == [0] * nodes

    @pytest.mark.parametrize("dtype", [torch.int32, torch.int16, torch.uint8])
    def test_any_integer_type(self, dtype):
        assert torch.equal(
            dense(Adjacency.from_edge_index(PATH.to(dtype), None, 3)), dense(Adjacency.from_edge_index(PATH, None, 3))
        )

    @settings(max_examples=40, deadline=None)
    @given(nodes=st.integers(1, 12), entries=st.integers(0, 40), seed=st.integers(0, 10**6))
    def test_rows_and_columns_hold_the_same_matrix(self, nodes, entries, seed):
        generator = torch.Generator().manual_seed(seed)
        edges = torch.randint(0, nodes, (2, entries), generator=generator)
        weights = torch.rand(entries, generator=generator, dtype=torch.float64)
        adjacency = Adjacency.from_edge_index(edges, weights, nodes)
        expected = torch.zeros(nodes, nodes, dtype=torch.float64).index_put(tuple(edges), weights, accumulate=True)
        torch.testing.assert_close(dense(adjacency), expected)
        torch.testing.assert_close(dense_from_columns(adjacency), expected)

    def test_weights_keep_their_gradient(self):
        weights = torch.tensor([1.0, 2.0, 3.0, 4.0], requires_grad=True)
        adjacency = Adjacency.from_edge_index(PATH.flip(1), weights, 3)
        adjacency.degrees(torch.float32)[0].backward()
        assert weights.grad.tolist() == [0, 0, 0, 1]  # the last column of the flipped edges leaves node 0

    def test_an_adjacency_passes_through(self):
        adjacency = Adjacency.from_edge_index(PATH, None, 3)
        assert Adjacency.from_edge_index(adjacency, None, 3) is adjacency

    @pytest.mark.parametrize("undirected", [False, True])
    def test_pyg_edge_index(self, pyg, undirected):
        edges = pyg.EdgeIndex(PATH, sparse_size=(3, 3), sort_order="row", is_undirected=undirected)
        adjacency = Adjacency.from_edge_index(edges, None, 3)
        assert adjacency.symmetric is undirected
        assert (adjacency.transposed is None) is undirected
        assert torch.equal(dense(adjacency), dense(Adjacency.from_edge_index(PATH, None, 3)))
        assert type(adjacency.indices) is torch.Tensor
        weighted = Adjacency.from_edge_index(edges, torch.tensor([1.0, 2.0, 3.0, 4.0]), 3)
        assert not weighted.symmetric  # the flag speaks of the pattern, not of the weights

    @pytest.mark.parametrize("edges", [[[0, 1], [1, 2]], [[0, 0, 1], [1, 1, 0]], [[0, 1, 2], [1, 2, 0]]])
    def test_a_wrong_mark_of_pyg_is_found(self, pyg, edges):
        # a path, an edge twice one way, and a cycle, whose rows and columns hold as many entries
        edges = torch.tensor(edges)
        adjacency = Adjacency.from_edge_index(pyg.EdgeIndex(edges, sparse_size=(3, 3), is_undirected=True), None, 3)
        assert not adjacency.symmetric
        assert torch.equal(adjacency.transposed.perm, Adjacency.from_edge_index(edges, None, 3).transposed.perm)

    def test_a_right_mark_is_found_in_any_order(self, pyg):
        both = torch.cat([PATH, PATH, torch.tensor([[2], [2]])], dim=1)  # entries twice, and a loop
        edges = pyg.EdgeIndex(both[:, torch.randperm(9)], sparse_size=(3, 3), is_undirected=True)
        assert Adjacency.from_edge_index(edges, None, 3).symmetric


class TestRepeatedPairs:
    def test_found_once_and_kept(self):
        edges = torch.tensor([[0, 0, 1, 0], [2, 1, 0, 2]])
        adjacency = Adjacency.from_edge_index(edges, None, 3)
        rows, place = adjacency.repeated_pairs
        assert rows.tolist() == [0, 0, 1]
        assert place.tolist() == [1, 0, 1, 2]
        assert adjacency.repeated_pairs[1] is place

    @pytest.mark.parametrize("edges", [[[0, 0, 1], [1, 2, 0]], [[0, 0, 1], [2, 1, 0]], [[], []]])
    def test_none_in_any_order(self, edges):
        adjacency = Adjacency.from_edge_index(torch.tensor(edges, dtype=torch.int64), None, 3)
        assert adjacency.repeated_pairs is None


class TestFromGraph:
    def test_unweighted(self):
        adjacency = Adjacency.from_graph(Graph.from_edge_index(PATH, num_nodes=4))
        assert adjacency.symmetric
        assert adjacency.values is None
        assert adjacency.transposed is None
        assert adjacency.degrees(torch.float64).tolist() == [1, 2, 1, 0]

    @pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
    def test_weighted(self, dtype):
        graph = Graph.from_edge_index(PATH, np.array([2.0, 2.0, 0.5, 0.5]))
        adjacency = Adjacency.from_graph(graph, dtype)
        assert adjacency.values.dtype == dtype
        assert torch.equal(dense(adjacency), torch.from_numpy(graph.adjacency().toarray()).double())


class TestFromDense:
    def test_batch_is_one_graph_of_blocks(self):
        adj = torch.arange(1.0, 9.0).view(2, 2, 2)
        adjacency = Adjacency.from_dense(adj)
        expected = torch.block_diag(adj[0], adj[1]).double()
        assert torch.equal(dense(adjacency), expected)
        assert torch.equal(dense_from_columns(adjacency), expected)

    def test_zeros_are_entries(self):
        adj = torch.zeros(1, 3, 3, requires_grad=True)
        adjacency = Adjacency.from_dense(adj)
        assert adjacency.num_entries == 9
        adjacency.degrees(torch.float32).sum().backward()
        assert torch.equal(adj.grad[0], 1 - torch.eye(3))

    @pytest.mark.parametrize("shape", [(0, 3, 3), (2, 0, 0), (1, 1, 1)])
    def test_small_batches(self, shape):
        adjacency = Adjacency.from_dense(torch.ones(shape))
        assert adjacency.shape == (shape[0] * shape[1],) * 2
        assert adjacency.num_entries == shape[0] * shape[1] ** 2

    def test_mask_keeps_its_nodes_in_order(self):
        adj = torch.arange(18.0).view(2, 3, 3).requires_grad_()
        mask = torch.tensor([[True, False, True], [False, True, False]])
        adjacency = Adjacency.from_dense(adj, mask)
        expected = torch.block_diag(adj[0][[0, 2]][:, [0, 2]], adj[1][1:2, 1:2]).double()
        assert torch.equal(dense(adjacency), expected)
        assert torch.equal(dense_from_columns(adjacency), expected)
        adjacency.weights(torch.float32).sum().backward()
        assert torch.equal(adj.grad, (mask[:, :, None] & mask[:, None, :]).float())

    def test_mask_of_all_nodes_changes_nothing(self):
        adj = torch.arange(18.0).view(2, 3, 3)
        masked, plain = Adjacency.from_dense(adj, torch.ones(2, 3, dtype=torch.bool)), Adjacency.from_dense(adj)
        assert torch.equal(dense(masked), dense(plain))
        assert masked.num_entries == plain.num_entries  # zeros stay entries
        assert masked.loops_count
        assert plain.loops_count

    def test_mask_of_no_node(self):
        adjacency = Adjacency.from_dense(torch.ones(2, 3, 3), torch.zeros(2, 3, dtype=torch.bool))
        assert (adjacency.num_nodes, adjacency.num_entries) == (0, 0)

    @pytest.mark.parametrize("shape", [(3, 3), (2, 3, 4), (1, 2, 3, 3)])
    def test_wrong_shape(self, shape):
        with pytest.raises(GraphError, match=r"adj of shape \(B, N, N\), got .*batch axis"):
            Adjacency.from_dense(torch.zeros(shape))


class TestWeights:
    def test_ones_where_unweighted(self):
        weights = Adjacency.from_edge_index(PATH, None, 3).weights(torch.float64)
        assert weights.tolist() == [1, 1, 1, 1]
        assert weights.dtype == torch.float64

    def test_self_loops_do_not_count(self):
        adjacency = Adjacency.from_edge_index(torch.tensor([[0, 0, 1], [0, 1, 1]]), torch.tensor([7.0, 2.0, 9.0]), 2)
        assert adjacency.degrees(torch.float64).tolist() == [2, 0]
        assert adjacency.node_weights(torch.float64).tolist() == [2, 0]

    def test_self_loops_of_a_pooled_graph_count_in_its_total_only(self):
        adjacency = Adjacency.from_dense(torch.tensor([[[7.0, 2.0], [0.0, 9.0]]]))
        assert adjacency.node_weights(torch.float64).tolist() == [9, 9]
        assert adjacency.degrees(torch.float64).tolist() == [2, 0]

    def test_total_of_an_unweighted_graph(self):
        adjacency = Adjacency.from_graph(Graph.from_edge_index(PATH, num_nodes=4))
        assert adjacency.node_weights(torch.float64).tolist() == [1, 2, 1, 0]

    def test_edge_counts_see_positive_weights_between_different_nodes(self):
        edges = torch.tensor([[0, 0, 0, 1, 2], [0, 1, 2, 0, 1]])
        adjacency = Adjacency.from_edge_index(edges, torch.tensor([3.0, 0.5, 0.0, 2.0, 7.0]), 3)
        assert adjacency.edge_counts(torch.float64).tolist() == [1, 1, 1]
        assert Adjacency.from_edge_index(edges, None, 3).edge_counts(torch.float64).tolist() == [2, 1, 1]

    def test_duplicates_count_each_time(self):
        adjacency = Adjacency.from_edge_index(torch.tensor([[0, 0], [1, 1]]), torch.tensor([3.0, 4.0]), 2)
        assert adjacency.degrees(torch.float64).tolist() == [7, 0]


class TestErrors:
    def test_dense_matrix_as_edges(self):
        with pytest.raises(GraphError, match=r"shape \(2, E\), got shape \(3, 3\); a dense adjacency goes to Dense"):
            Adjacency.from_edge_index(torch.ones(3, 3), None, 3)

    @pytest.mark.parametrize("edges", [torch.zeros(4, 2, dtype=torch.int64), torch.zeros(2, dtype=torch.int64)])
    def test_wrong_shape(self, edges):
        with pytest.raises(GraphError, match=r"expected edge_index .* shape \(2, E\), got shape \("):
            Adjacency.from_edge_index(edges, None, 3)

    @pytest.mark.parametrize(
        ("edges", "got"), [([[0, 1], [1, 0]], "list"), (np.zeros((2, 4), np.int64), "ndarray"), (None, "None")]
    )
    def test_not_a_tensor(self, edges, got):
        with pytest.raises(GraphError, match=f"integer tensor.*got {got}"):
            Adjacency.from_edge_index(edges, None, 3)

    @pytest.mark.parametrize("dtype", [torch.float32, torch.bool, torch.complex64])
    def test_not_integers(self, dtype):
        with pytest.raises(GraphError, match=rf"hold integers, got {dtype}; convert it with \.long"):
            Adjacency.from_edge_index(PATH.to(dtype), None, 3)

    @pytest.mark.parametrize("bad", [-1, 3, 2**40])
    def test_index_out_of_range(self, bad):
        with pytest.raises(GraphError, match=rf"node indices in \[0, 3\), the rows of x, got {bad} in edge_index"):
            Adjacency.from_edge_index(torch.tensor([[0, 1], [1, bad]]), None, 3)

    def test_edges_without_nodes(self):
        with pytest.raises(GraphError, match=r"\[0, 0\)"):
            Adjacency.from_edge_index(PATH, None, 0)

    @pytest.mark.parametrize("shape", [(3,), (5,), (4, 1), ()])
    def test_weights_of_another_length(self, shape):
        with pytest.raises(GraphError, match=r"one weight per edge, shape \(4,\), got edge_weight of shape"):
            Adjacency.from_edge_index(PATH, torch.ones(shape), 3)

    def test_adjacency_with_weights_beside_it(self):
        with pytest.raises(GraphError, match=r"inside the Adjacency.*with_values\(\)"):
            Adjacency.from_edge_index(Adjacency.from_edge_index(PATH, None, 3), torch.ones(4), 3)

    def test_adjacency_of_another_size(self):
        with pytest.raises(GraphError, match=r"adjacency of 5 nodes .* got one of 3"):
            Adjacency.from_edge_index(Adjacency.from_edge_index(PATH, None, 3), None, 5)

    @pytest.mark.parametrize("shape", [(2, 1), (4, 1), (3,), (1, 3, 1)])
    def test_rows_that_are_not_the_nodes(self, shape):
        with pytest.raises(GraphError, match=r"expected x of shape \(3, F\), one row per node"):
            Adjacency.from_edge_index(PATH, None, 3).check_rows(torch.zeros(shape), "x")
