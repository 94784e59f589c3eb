import * as DnsKind from "./dnsKinds.ts"
import * as Kind from "./kinds.ts"
import { inGroup, listOption } from "./optionRow.ts"
import type { SettingsIn } from "./settingsIn.ts"

const listeners = <F extends string>(field: F, description: string) =>
  listOption(Kind.addressKind("optional"), `electrum.${field}`, {
    description: `${description}; may be repeated`,
    defaultNote: "no listener"
  })

export const ELECTRUM_OPTIONS = inGroup("Electrum", {
  electrum: listeners("listen", "address for Electrum clients over TCP, usually port 50001"),
  electrumhost: listOption(DnsKind.hostKind, "electrum.hosts", {
    description: "host name under which Electrum clients reach this server; may be repeated",
    defaultNote: "none"
  })
})

export interface ElectrumSettings extends Readonly<SettingsIn<typeof ELECTRUM_OPTIONS>["electrum"]> {}
