import { assert, describe, it } from "@effect/vitest"
import type { WhitelistEntry } from "../../../src/config/permissions.ts"
import { PermissionRules } from "../../../src/network/connect/permissions.ts"
import { parseNetAddress } from "../../../src/network/wire/addressText.ts"
import type { NetAddress } from "../../../src/network/wire/netAddress.ts"

const entry = (net: string, fields: Partial<WhitelistEntry> = {}): WhitelistEntry => ({
  permissions: [],
  implicit: false,
  inbound: true,
  outbound: false,
  net,
  ...fields
})

const address = (text: string): NetAddress => parseNetAddress(text) ?? assert.fail(text)

const rules = (
  whitelist: ReadonlyArray<WhitelistEntry>,
  { forceRelay = false, relay = true }: { readonly relay?: boolean; readonly forceRelay?: boolean } = {}
) => new PermissionRules({ whitelist, whitelistRelay: relay, whitelistForceRelay: forceRelay })

describe("PermissionRules", () => {
  it("a peer has the permissions of all matching networks and of its listener, in one order", () => {
    const all = rules([
      entry("10.0.0.0/255.0.0.0", { permissions: ["addr"] }),
      entry("10.1.0.0/16", { permissions: ["noban", "download"] }),
      entry("11.0.0.0/8", { permissions: ["mempool"] })
    ])
    assert.deepStrictEqual([...all.inbound(address("10.1.2.3"))], ["noban", "download", "addr"])
    assert.deepStrictEqual([...all.inbound(address("10.2.2.3"))], ["addr"])
    assert.deepStrictEqual([...all.inbound(address("12.2.2.3"))], [])
    const listener = { permissions: ["bloomfilter"] as const, implicit: false }
    assert.deepStrictEqual([...all.inbound(address("10.2.2.3"), listener)], ["bloomfilter", "addr"])
  })

  it("the default permissions follow -whitelistrelay and -whitelistforcerelay", () => {
    const listed = [entry("::1", { implicit: true })]
    const granted = (
      options: { readonly relay?: boolean; readonly forceRelay?: boolean }
    ) => [...rules(listed, options).inbound(address("::1"))]
    assert.deepStrictEqual(granted({}), ["noban", "relay", "mempool", "download"])
    assert.deepStrictEqual(granted({ relay: false }), ["noban", "mempool", "download"])
    assert.deepStrictEqual(granted({ forceRelay: true }), ["noban", "forcerelay", "relay", "mempool", "download"])
    assert.deepStrictEqual([...rules([entry("::1")], { forceRelay: true }).inbound(address("::1"))], [])
  })

  it("an entry applies to its directions only", () => {
    const both = rules([
      entry("127.0.0.1", { permissions: ["addr"], inbound: false, outbound: true }),
      entry("127.0.0.1", { permissions: ["relay"], outbound: true }),
      entry("127.0.0.1", { permissions: ["mempool"] })
    ])
    assert.deepStrictEqual([...both.manual(address("127.0.0.1"))], ["relay", "addr"])
    assert.deepStrictEqual([...both.inbound(address("127.0.0.1"))], ["relay", "mempool"])
  })
})
