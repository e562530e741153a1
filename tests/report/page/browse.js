// Use a page as a person would, in headless Chromium by playwright-core, and print what was seen as JSON.
// Arguments: the Chromium program, the page, a text that finds one node.

const { chromium } = require("playwright-core");

const SWITCHES = [
  "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync",
];

async function browse(program, file, text) {
  const browser = await chromium.launch({ executablePath: program, args: SWITCHES, timeout: 0 });
  const page = await browser.newPage({ viewport: { width: 1200, height: 900 }, colorScheme: "light" });
  page.setDefaultTimeout(0);
  const problems = [];
  page.on("console", (message) => {
    const harmless = message.text().includes("GL Driver Message"); // the software renderer on its own speed
    if (["error", "warning"].includes(message.type()) && !harmless) problems.push(message.text());
  });
  page.on("pageerror", (error) => problems.push(error.message));
  page.on("dialog", (dialog) => { problems.push(`dialog: ${dialog.message()}`); dialog.dismiss(); });
  page.on("request", (request) => { if (!/^(file|data|blob):/.test(request.url())) problems.push(request.url()); });
  const seen = { problems };
  const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const read = (selector) => page.textContent(selector);

  await page.goto(`file://${file}`);
  await page.waitForSelector("html[data-ready]");
  seen.legend = await page.locator("#legend button").count();
  await page.fill("#search", text);
  await page.keyboard.press("Enter"); // selects the first one found and puts it in the middle
  seen.found = await read("#details h3");
  const box = await page.locator("#map").boundingBox();
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  seen.tip = await read("#tip strong");
  await page.mouse.move(0, 0);
  await page.focus("#map");
  for (const key of ["ArrowLeft", "ArrowRight", "+", "-"]) await page.keyboard.press(key);
  seen.stepped = await read("#details h3");
  await page.keyboard.press("Escape");
  seen.cleared = await read("#details");
  const colors = await page.locator("#color option").allTextContents();
  for (const color of colors) await page.selectOption("#color", { label: color });
  seen.colors = colors;
  await page.locator("button[data-node]").first().click();
  seen.pressed = await read("#details h3");
  seen.light = await background();
  await page.emulateMedia({ colorScheme: "dark" });
  seen.dark = await background();
  seen.injected = await page.locator("img:not([src^='data:'])").count();
  await browser.close();
  return seen;
}

const [program, file, text] = process.argv.slice(2);
browse(program, file, text).then((seen) => console.log(JSON.stringify(seen)));
