import { type Html, html } from "./html.ts"

/** The mark of svcd: the `d/` of a domain name as one figure, on a tile. */

/** The bowl of the letter, and its stem, which is the slash. On a square of 32 by 32. */
const FIGURE = "M12 13.6a5.2 5.2 0 1 1 0 10.4a5.2 5.2 0 1 1 0-10.4zM17.6 24 24 7.5"

export const markView: Html =
  html`<svg class="logo" viewBox="0 0 32 32" aria-hidden="true"><rect width="32" height="32" rx="9"/><path d="${FIGURE}"/></svg>`

/** Inline: otherwise a browser would request one. Tabs are light or dark, and the tile stands out on both. */
export const ICON = "data:image/svg+xml," + encodeURIComponent(
  "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'><rect width='32' height='32' rx='9' fill='#00757a'/>" +
    `<path d='${FIGURE}' fill='none' stroke='#fff' stroke-width='3.4' stroke-linecap='round'/></svg>`
)
