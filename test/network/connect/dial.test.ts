import { assert, describe, it } from "@effect/vitest"
import type { ProxyRoutes } from "../../../src/config/proxies.ts"
import { routeTo } from "../../../src/network/connect/net.ts"

const ONION = "pg6mmjiyjmcrsslvykfwnntlaru7p5svn6y2ymmju6nubxndf4pscryd.onion"

const NONE = { ipv4: undefined, ipv6: undefined, onion: undefined, cjdns: undefined, names: undefined }

const EACH = {
  ipv4: { host: "127.0.0.1", port: 4 },
  ipv6: { host: "127.0.0.1", port: 6 },
  onion: { path: "/run/tor/socks" },
  cjdns: { host: "127.0.0.1", port: 7 },
  names: { host: "127.0.0.1", port: 1 }
}

const HOSTS: ReadonlyArray<
  readonly [host: string, proxy: keyof ProxyRoutes | "direct" | "none", alone: "direct" | "none"]
> = [
  ["80.1.2.3", "ipv4", "direct"],
  ["2a00::1", "ipv6", "direct"],
  ["node.example", "names", "direct"],
  [ONION, "onion", "none"],
  // Not an address of Tor, but to look it up would tell the resolver.
  ["facebookcorewwwi.onion", "onion", "none"],
  [`${ONION.toUpperCase()}.`, "onion", "none"],
  ["name.i2p", "none", "none"],
  // A proxy cannot reach a peer on this machine or in a private network.
  ["127.0.0.1", "direct", "direct"],
  ["10.0.0.1", "direct", "direct"],
  ["::1", "direct", "direct"]
]

describe("routeTo", () => {
  for (const [host, proxy, alone] of HOSTS) {
    it(`${host}: ${proxy}, and without proxies ${alone}`, () => {
      const route = routeTo(EACH, host)
      if (proxy === "direct" || proxy === "none") assert.strictEqual(route.type, proxy)
      else assert.deepStrictEqual(route, { type: "proxy", proxy: EACH[proxy] })
      assert.strictEqual(routeTo(NONE, host).type, alone)
    })
  }

  it("with a proxy for onion addresses alone, the others are called directly", () => {
    const routes = { ...NONE, onion: EACH.onion }
    assert.deepStrictEqual(
      ["80.1.2.3", "2a00::1", "node.example", ONION].map((host) => routeTo(routes, host).type),
      ["direct", "direct", "direct", "proxy"]
    )
  })
})
