import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { whitebindKind, whitelistKind } from "../../src/config/permissions.ts"
import { problemsOf, settingsOf } from "./input.ts"

const whitelist = (text: string) => settingsOf([`-whitelist=${text}`]).peers.whitelist[0]

describe("-whitelist", () => {
  it("grants the default permissions without an @, and none with nothing in front of it", () => {
    const rest = { permissions: [], inbound: true, outbound: false, net: "127.0.0.1" }
    assert.deepStrictEqual(whitelist("127.0.0.1"), { ...rest, implicit: true })
    assert.deepStrictEqual(whitelist("@127.0.0.1"), { ...rest, implicit: false })
  })

  it("knows what a permission includes, aliases and all", () => {
    const permissions = (words: string) => whitelist(`${words}@10.0.0.0/8`)?.permissions
    assert.deepStrictEqual(permissions("noban"), ["noban", "download"])
    assert.deepStrictEqual(permissions("bloom,forcerelay,"), ["bloomfilter", "forcerelay", "relay"])
    assert.deepStrictEqual(
      permissions("all"),
      ["bloomfilter", "noban", "forcerelay", "relay", "mempool", "download", "addr"]
    )
  })

  it("applies to inbound peers, or to the directions that it names", () => {
    const directions = (words: string) => {
      const entry = whitelist(`${words}@::1`)
      return [entry?.inbound, entry?.outbound]
    }
    assert.deepStrictEqual(directions("addr"), [true, false])
    assert.deepStrictEqual(directions("addr,out"), [false, true])
    assert.deepStrictEqual(directions("in,addr,out"), [true, true])
  })

  it("refuses other words, directions alone and other networks, and says what is allowed", () => {
    const problem = (text: string) => problemsOf([`-whitelist=${text}`])
    assert.deepStrictEqual(problem("oopsie@127.0.0.1"), [
      "-whitelist: Invalid P2P permission: 'oopsie'; expected one of " +
      "bloomfilter, noban, forcerelay, relay, mempool, download, addr, all, in, out"
    ])
    assert.deepStrictEqual(problem("in,out@127.0.0.1"), [
      "-whitelist: Only direction was set, no permissions: 'in,out@127.0.0.1'; " +
      "name one of bloomfilter, noban, forcerelay, relay, mempool, download, addr"
    ])
    for (const net of ["127.0.0.1:230", "10.0.0.0/33", "10.0.0.0/255.0.255.0", "fe80::1%eth0", "localhost", ""]) {
      assert.deepStrictEqual(problem(`noban@${net}`), [
        `Invalid netmask specified in -whitelist: '${net}'; ` +
        "expected an address, or a network such as 192.168.0.0/16 or fd00::/8"
      ])
    }
  })

  it("reads the text that it prints", () => {
    const print = Schema.encodeSync(whitelistKind.schema())
    const read = Schema.decodeSync(whitelistKind.schema())
    for (
      const text of ["127.0.0.1", "@::1", "noban,download@10.0.0.0/255.0.0.0", "addr,in,out@fd00::/8", "addr,out@::1"]
    ) {
      assert.strictEqual(print(read(text)), text)
    }
  })
})

describe("-whitebind", () => {
  it("is a listener, and replaces the default of -listen only", () => {
    const pick = (argv: ReadonlyArray<string>) => {
      const { listen, whitebind } = settingsOf(argv).peers
      return [listen?.port, whitebind.map(({ address: { port } }) => port)]
    }
    assert.deepStrictEqual(pick(["-whitebind=relay@127.0.0.1:1000"]), [undefined, [1000]])
    assert.deepStrictEqual(pick(["-whitebind=relay@[::1]:1000", "-listen=:2000"]), [2000, [1000]])
    assert.deepStrictEqual(pick(["-whitebind=relay@127.0.0.1:1000", "-maxpeers=0"]), [undefined, []])
  })

  it("refuses outbound peers, addresses without a port, and a node that does not listen", () => {
    assert.deepStrictEqual(problemsOf(["-whitebind=noban,out@127.0.0.1:1"]), [
      "-whitebind: whitebind may only be used for incoming connections (\"out\" was passed)"
    ])
    assert.deepStrictEqual(problemsOf(["-whitebind=noban@127.0.0.1/10"]), [
      "Cannot resolve -whitebind address: '127.0.0.1/10'; " +
      "\"127.0.0.1/10\" is not an address of the form host:port"
    ])
    assert.deepStrictEqual(problemsOf(["-whitebind=noban@127.0.0.1", "-listen="]), [
      "Cannot set -bind or -whitebind together with -listen=0; remove the empty listen",
      "Need to specify a port with -whitebind: '127.0.0.1'; expected host:port, such as 127.0.0.1:8334"
    ])
    assert.deepStrictEqual(problemsOf(["-whitebind=127.0.0.1:8336"]), [
      "-whitebind: 127.0.0.1:8336 is taken by rpcaddr 127.0.0.1:8336"
    ])
  })

  it("reads the text that it prints", () => {
    const print = Schema.encodeSync(whitebindKind.schema())
    const read = Schema.decodeSync(whitebindKind.schema())
    for (const text of ["127.0.0.1:1", "@[::1]:2", "noban,download@host:3"]) assert.strictEqual(print(read(text)), text)
  })
})
