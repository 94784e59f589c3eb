import * as DnsKind from "./dnsKinds.ts"
import * as Kind from "./kinds.ts"
import { inGroup, listOption, oneOption } from "./optionRow.ts"
import type { SettingsIn } from "./settingsIn.ts"

const listeners = <F extends string>(field: F, description: string) =>
  listOption(Kind.addressKind("optional"), `electrum.${field}`, {
    description: `${description}; may be repeated`,
    defaultNote: "no listener"
  })

export const ELECTRUM_OPTIONS = inGroup("Electrum", {
  electrum: listeners("listen", "address for Electrum clients over TCP, usually port 50001"),
  electrumtls: listeners("tls", "address for Electrum clients over TLS, usually port 50002"),
  electrumws: listeners("webSocket", "address for Electrum clients over WebSocket, usually port 50003"),
  electrumwss: listeners("secureWebSocket", "address for Electrum clients over WebSocket with TLS, usually port 50004"),
  electrumcert: oneOption(Kind.optionalKind(Kind.pathKind), "electrum.certificate", {
    description:
      "PEM file with the certificate chain for electrumtls and electrumwss; reloaded on SIGHUP and once a day",
    defaultNote: "one that svcd makes and keeps"
  }),
  electrumkey: oneOption(Kind.optionalKind(Kind.pathKind), "electrum.key", {
    description: "PEM file with the private key of electrumcert",
    defaultNote: "none"
  }),
  electrumhost: listOption(DnsKind.hostKind, "electrum.hosts", {
    description: "host name under which Electrum clients reach this server; may be repeated",
    defaultNote: "none"
  })
})

export interface ElectrumSettings extends Readonly<SettingsIn<typeof ELECTRUM_OPTIONS>["electrum"]> {}
