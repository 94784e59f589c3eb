import { encodeQR } from "qr"
import { type Html, html } from "../web/html.ts"

/** Modules of white around a code, which readers need. */
const BORDER = 4

/** A text as a QR code: black on white in any scheme, since many readers know no other. */
export const qrCode = ({ label, text }: { readonly text: string; readonly label: string }): Html => {
  const rows = encodeQR(text, "raw", { ecc: "medium", border: BORDER })
  const path = rows.flatMap((row, y) => row.flatMap((dark, x) => dark ? [`M${x} ${y}h1v1h-1z`] : [])).join("")
  const size = rows.length
  return html`<svg class="qr" viewBox="0 0 ${size} ${size}" role="img" aria-label="${label}"><rect width="${size}" height="${size}" fill="#fff"/><path d="${path}" fill="#000" shape-rendering="crispEdges"/></svg>`
}
