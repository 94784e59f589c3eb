import { addressOf } from "../../protocol/address.ts"
import { toHex } from "../../protocol/bytes.ts"
import { addressScript } from "../../protocol/nameOperation.ts"
import type { Network } from "../../protocol/networks.ts"
import { type ScriptTemplate, scriptTemplate } from "../../protocol/scriptType.ts"
import { type Html, html } from "../html.ts"
import { addressView } from "../places.ts"

export const scriptWords = (template: ScriptTemplate): string => {
  switch (template.type) {
    case "pubkey":
      return "P2PK"
    case "pubkeyhash":
      return "P2PKH"
    case "scripthash":
      return "P2SH"
    case "multisig":
      return `${template.required} of ${template.pubkeys.length} keys`
    case "witness_v0_keyhash":
      return "P2WPKH"
    case "witness_v0_scripthash":
      return "P2WSH"
    case "witness_v1_taproot":
      return "P2TR"
    case "witness_unknown":
      return `witness version ${template.version}`
    case "anchor":
      return "anchor"
    case "nulldata":
      return "data"
    case "nonstandard":
      return "other script"
  }
}

const SHOWN = 80

/** An address, or the start of the script. */
export const recipientView = (network: Network, script: Uint8Array): Html => {
  const payee = addressScript(script)
  const address = addressOf(network, payee)
  if (address !== undefined) return addressView(address)
  if (payee.length === 0) return html`<span class="muted">empty script</span>`
  return html`<code class="break">${toHex(payee.subarray(0, SHOWN))}${payee.length > SHOWN && "…"}</code>`
}

export const scriptKind = (script: Uint8Array): string => scriptWords(scriptTemplate(script))
