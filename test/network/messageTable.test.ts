import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { messageTable } from "../../src/network/messageTable.ts"
import { MESSAGE_COMMANDS, type MessageCommand } from "../../src/network/wire/message.ts"
import { messagesTo } from "../support/receive.ts"

const nothing = () => Effect.void

const table = messagesTo(nothing)

/** The commands whose route is what a test expects. */
const commandsWith = (test: (route: (typeof table)[MessageCommand]) => boolean): ReadonlyArray<MessageCommand> =>
  MESSAGE_COMMANDS.filter((command) => test(table[command])).sort()

describe("messageTable", () => {
  it("every command has a route", () => {
    assert.deepStrictEqual(Object.keys(table).sort(), [...MESSAGE_COMMANDS].sort())
  })

  it("the sync handles an inventory and a notfound before the relay", () => {
    const [sync, relay] = [() => Effect.void, () => Effect.void]
    const parts = messageTable({
      sync: { headers: sync, inv: sync, block: sync, cmpctblock: sync, blocktxn: sync, notfound: sync },
      relay: { inv: relay, tx: relay, notfound: relay, mempool: nothing },
      server: { getheaders: nothing, getblocks: nothing, getdata: nothing, getblocktxn: nothing },
      gossip: { addr: nothing, addrv2: nothing, getaddr: nothing }
    })
    for (const command of ["inv", "notfound"] as const) {
      const route = parts[command]
      assert.isTrue(Array.isArray(route) && route.length === 2 && route[0] === sync && route[1] === relay, command)
    }
  })

  it("the connection itself handles pings and the features of its peer", () => {
    assert.deepStrictEqual(
      commandsWith((route) => route === "connection"),
      ["feefilter", "ping", "pong", "sendcmpct", "sendheaders"]
    )
  })

  it("peers that use filters, or that negotiate after the handshake, are disconnected without penalty", () => {
    const leaving = commandsWith((route) => typeof route === "object" && "reason" in route && !route.misbehaving)
    assert.deepStrictEqual(leaving, [
      "filteradd",
      "filterclear",
      "filterload",
      "getcfcheckpt",
      "getcfheaders",
      "getcfilters",
      "sendaddrv2",
      "wtxidrelay"
    ])
  })

  it("answers that the node never requests, and old messages, are ignored", () => {
    assert.deepStrictEqual(commandsWith((route) => route === "ignore"), [
      "alert",
      "cfcheckpt",
      "cfheaders",
      "cfilter",
      "merkleblock",
      "sendtxrcncl",
      "verack",
      "version"
    ])
  })
})
