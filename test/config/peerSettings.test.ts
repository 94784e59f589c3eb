import { assert, it } from "@effect/vitest"
import { reachableNetworks } from "../../src/config/peerSettings.ts"
import { proxyRoutes } from "../../src/config/proxies.ts"
import type { Settings } from "../../src/config/settings.ts"
import { settingsOf } from "./input.ts"

type PeerFacts = Settings["peers"] & {
  readonly networks: ReturnType<typeof reachableNetworks>
  readonly proxies: ReturnType<typeof proxyRoutes>
}

const TOR = { host: "127.0.0.1", port: 9050 }
const NO_PROXIES = { ipv4: undefined, ipv6: undefined, onion: undefined, cjdns: undefined, names: undefined }

it.each<readonly [argv: ReadonlyArray<string>, expected: Partial<PeerFacts>]>([
  [["-addpeer=a:1", "-seednode=b"], { dnsSeed: false, seedNodes: [] }],
  [["-addpeer=a:1", "-dnsseed"], { dnsSeed: true }],
  [["-seednode=b", "-seednode=[::1]:5", "-seednode=::1"], { dnsSeed: true, seedNodes: ["b", "[::1]:5", "::1"] }],
  [["-proxy=127.0.0.1:9050"], { networks: ["ipv4", "ipv6", "onion"], discover: false }],
  [["-proxy=127.0.0.1:9050", "-onlynet=onion"], { networks: ["onion"], dnsSeed: false }],
  [["-onion=127.0.0.1"], {
    networks: ["ipv4", "ipv6", "onion"],
    discover: true,
    proxies: { ...NO_PROXIES, onion: TOR }
  }],
  [["-proxy=127.0.0.1", "-onion=0"], {
    networks: ["ipv4", "ipv6"],
    discover: false,
    proxies: { ipv4: TOR, ipv6: TOR, onion: undefined, cjdns: TOR, names: TOR }
  }],
  [["-proxy=[::1]:1", "-proxy=unix:/run/tor/socks=onion", "-proxy=127.0.0.1=IPv4", "-proxyrandomize=0"], {
    proxies: {
      ipv4: TOR,
      ipv6: { host: "::1", port: 1 },
      onion: { path: "/run/tor/socks" },
      cjdns: { host: "::1", port: 1 },
      names: TOR
    },
    proxyRandomize: false
  }],
  [["-proxy=127.0.0.1", "-proxy=0"], { networks: ["ipv4", "ipv6"], discover: true, proxies: NO_PROXIES }],
  [["-proxy="], { proxies: NO_PROXIES }],
  [["-proxy=127.0.0.1", "-proxy==ipv6"], {
    discover: false,
    proxies: { ipv4: TOR, ipv6: undefined, onion: TOR, cjdns: TOR, names: undefined }
  }],
  [["-onlynet=ipv6"], { networks: ["ipv6"], dnsSeed: true }],
  [["-externalip=192.0.2.1", "-externalip=[2001:db8::1]:5"], {
    discover: false,
    externalAddresses: [{ host: "192.0.2.1", port: 0 }, { host: "2001:db8::1", port: 5 }]
  }],
  [["-externalip=192.0.2.1", "-discover"], { discover: true }],
  [["-listen="], { discover: false }],
  [["-maxuploadtarget=500"], { maxUploadTarget: 500 * 1024 * 1024 }],
  [["-maxuploadtarget=2g"], { maxUploadTarget: 2_000_000_000 }]
])("derives the settings of peers from %j", (argv, expected) => {
  const { peers } = settingsOf(argv)
  assert.deepInclude({ ...peers, networks: reachableNetworks(peers), proxies: proxyRoutes(peers) }, expected)
})
