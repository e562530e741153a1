"""One self-contained HTML file that shows a clustering in a browser, without any network."""

from tvgnn.report.page.build import clustering_page, write_page
from tvgnn.report.page.view import ClusteringView, Picture

__all__ = ["ClusteringView", "Picture", "clustering_page", "write_page"]
