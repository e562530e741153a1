// Colours of nodes: by number for clusters and classes, along a ramp for quantities; both for light and dark pages.

const dark = matchMedia("(prefers-color-scheme: dark)");
const RAMPS = {
  light: ["#d6dbe0", "#b9cfe3", "#86b3db", "#4a86c5", "#2a4f9c", "#25185e"],
  dark: ["#3b424b", "#46566d", "#5377a5", "#6fa0d8", "#a9d0f2", "#f4fbff"],
};

function rgb(color) {
  const value = parseInt(color.slice(1), 16);
  return [value >> 16, (value >> 8) & 255, value & 255];
}

const PALETTE = DATA.colors.map(rgb);
const UNKNOWN = rgb(DATA.unknown);

function numberColor(number) {
  if (number < 0) return dark.matches ? [82, 88, 96] : UNKNOWN;
  return PALETTE[number % PALETTE.length];
}

function numberShape(number) {
  return number < 0 ? 0 : Math.floor(number / PALETTE.length) % DATA.markers.length;
}

function rampStops() {
  return RAMPS[dark.matches ? "dark" : "light"];
}

// A quantity that a node does not have: of another hue than the ramps, whose pale end is a small value
function valueUnknown() {
  return dark.matches ? [152, 120, 78] : [217, 185, 140];
}

// 256 colours, for quantities in bytes.
function rampTable() {
  const stops = rampStops().map(rgb);
  return Array.from({ length: 256 }, (_, level) => {
    const at = (level / 255) * (stops.length - 1);
    const low = Math.min(Math.floor(at), stops.length - 2);
    return stops[low].map((part, channel) => Math.round(part + (at - low) * (stops[low + 1][channel] - part)));
  });
}

function markerIcon(number, color = numberColor(number)) {
  const icon = document.querySelector(`#shapes [data-shape="${numberShape(number)}"]`).cloneNode(true);
  icon.removeAttribute("data-shape");
  icon.querySelector("path").setAttribute("fill", `rgb(${color})`);
  return icon;
}
