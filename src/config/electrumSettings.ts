import type { Issue } from "./decode.ts"
import type { ELECTRUM_OPTIONS, ElectrumSettings } from "./electrumOptions.ts"
import { type Listener, takenIssues } from "./listeners.ts"

/** Contradictions between the options of the Electrum server, and where it listens. */

type ElectrumOptionName = keyof typeof ELECTRUM_OPTIONS

const LISTENERS = [
  ["electrum", "listen"],
  ["electrumtls", "tls"],
  ["electrumws", "webSocket"],
  ["electrumwss", "secureWebSocket"]
] as const

export const electrumListenersOf = (electrum: ElectrumSettings): ReadonlyArray<Listener<ElectrumOptionName>> =>
  LISTENERS.flatMap(([name, field]) => electrum[field].map((address) => ({ name, address })))

/** Whether the node serves Electrum clients at all. */
export const servesElectrum = (electrum: ElectrumSettings): boolean => electrumListenersOf(electrum).length > 0

/** `others` are the other listeners of the node. */
export const electrumContradictions = (
  electrum: ElectrumSettings,
  others: ReadonlyArray<Listener>
): ReadonlyArray<Issue> => {
  const issues: Array<Issue> = []
  const listeners = electrumListenersOf(electrum)
  if (listeners.length === 0 && electrum.hosts.length > 0) {
    issues.push([
      "electrumhost",
      "is for a node that serves Electrum clients, and nothing listens for them; set electrum, for example 127.0.0.1:50001"
    ])
  }
  if ((electrum.certificate === undefined) !== (electrum.key === undefined)) {
    const [given, missing] = electrum.certificate === undefined
      ? ["electrumkey", "electrumcert"] as const
      : ["electrumcert", "electrumkey"] as const
    issues.push([given, `is given without ${missing}; TLS needs both, or neither for a certificate that svcd makes`])
  }
  return [...issues, ...takenIssues(listeners, others)]
}
