import * as Effect from "effect/Effect"
import { mkdirSync, mkdtempSync, rmSync } from "node:fs"
import type { Socket } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Chain from "../../src/chain/Chain.ts"
import { ChainSink } from "../../src/chain/ChainSink.ts"
import { regtestParams } from "../../src/consensus/params.ts"
import { decodeMessage, encodePayload } from "../../src/network/wire/message.ts"
import { type Block, type BlockHeader, decodeBlock } from "../../src/protocol/block.ts"
import { concat } from "../../src/protocol/bytes.ts"
import { benchChain } from "./chain.ts"
import { freePort, NodeProcess, pause } from "./nodeProcess.ts"
import { GarbagePeers, idlePeer, SlowLine } from "./traffic.ts"

const { magic } = regtestParams.network

/** Milliseconds that a byte takes each way between distant nodes: a round trip of 100 ms. */
const DELAY = 50

/** Bytes that a stalling peer sends before it falls silent. */
const STALL_AFTER = 3_000_000

interface SyncFigures {
  readonly seconds: number
  readonly peakMemoryMB: number
}

/** Starts an empty node that knows these peers, and waits until it has their last block. */
const sync = async (
  tip: string,
  peers: ReadonlyArray<number>,
  during?: (node: { readonly port: number }) => { readonly stop: () => void }
): Promise<SyncFigures> => {
  const port = await freePort()
  const listen = during === undefined ? [] : [`-listen`, `127.0.0.1:${port}`]
  const node = await NodeProcess.start({
    args: [
      ...(during === undefined ? ["-listen", ""] : listen),
      ...peers.flatMap((peer) => ["-addpeer", `127.0.0.1:${peer}`])
    ]
  })
  const trouble = during?.({ port })
  try {
    const seconds = await node.untilTip(tip)
    return { seconds, peakMemoryMB: node.peakMemoryMB }
  } finally {
    trouble?.stop()
    await node.stop()
  }
}

const load = async (file: string, tip: string): Promise<SyncFigures> => {
  const node = await NodeProcess.start({ args: ["-maxpeers", "0", "-loadblock", file] })
  try {
    return { seconds: await node.untilTip(tip), peakMemoryMB: node.peakMemoryMB }
  } finally {
    await node.stop()
  }
}

/** The cost of a hundred idle peers to a node. */
const idlePeers = async (server: NodeProcess, port: number): Promise<object> => {
  await pause(2_000)
  const before = server.memoryMB
  const sockets: Array<Socket> = []
  for (let i = 0; i < 100; i++) sockets.push(await idlePeer(magic, port))
  await pause(5_000)
  const connected = await server.call("getconnectioncount")
  const after = server.memoryMB
  for (const socket of sockets) socket.destroy()
  return { peers: connected, before, after, costMB: after - before }
}

/** Headers with merged-mining proofs, from the bytes of their messages to the tree. */
const headerRate = async (blocks: ReadonlyArray<Block>): Promise<object> => {
  const headers: ReadonlyArray<BlockHeader> = blocks.slice(1)
  const messages: Array<Uint8Array> = []
  for (let from = 0; from < headers.length; from += 2_000) {
    messages.push(concat(...encodePayload({ type: "headers", headers: headers.slice(from, from + 2_000) })))
  }
  const directory = mkdtempSync(join(tmpdir(), "svcd-bench-"))
  for (const name of ["blocks", "chainstate"]) mkdirSync(join(directory, name))
  try {
    return await Effect.runPromise(
      Effect.gen(function*() {
        const chain = yield* Chain.Chain
        const sink = yield* ChainSink
        const started = performance.now()
        for (const payload of messages) {
          const message = decodeMessage("headers", payload)
          if (message.type === "headers") yield* sink.acceptHeaders(message.headers)
        }
        const seconds = (performance.now() - started) / 1000
        const { height } = yield* chain.headerTip
        if (height !== headers.length) return yield* Effect.dieMessage(`the headers end at height ${height}`)
        const withProof = headers.filter(({ auxpow }) => auxpow !== undefined).length
        return { headers: height, withProof, seconds, headersPerSecond: height / seconds }
      }).pipe(Effect.provide(benchChain(directory, { verifyThreads: 0 })))
    )
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

/** Sync of the load chain from peers good and bad, beside the import of the same file in the same run. */
export const benchPeers = async (
  file: string,
  records: ReadonlyArray<Uint8Array>,
  tip: string
): Promise<object> => {
  const port = await freePort()
  const server = await NodeProcess.start({
    args: ["-listen", `127.0.0.1:${port}`, "-maxinbound", "120", "-maxpeers", "125", "-loadblock", file]
  })
  const lines: Array<SlowLine> = []
  try {
    await server.untilTip(tip)
    const fromFile = await load(file, tip)
    const one = await sync(tip, [port])
    for (let i = 0; i < 2; i++) lines.push(await SlowLine.open(port, { delay: DELAY }))
    const third = await SlowLine.open(port, { delay: DELAY })
    const stalling = await SlowLine.open(port, { delay: DELAY, stallAfter: STALL_AFTER })
    lines.push(third, stalling)
    const [first, second] = lines
    const good = [first, second].flatMap((line) => line === undefined ? [] : [line.port])
    const three = await sync(tip, [...good, third.port])
    const oneStalls = await sync(tip, [...good, stalling.port])
    const amongGarbage = await sync(tip, [port], (node) => new GarbagePeers(magic, node.port, 20))
    const idle = await idlePeers(server, port)
    const to = (figures: SyncFigures) => ({ ...figures, toFile: figures.seconds / fromFile.seconds })
    return {
      what: "sync of 6,000 blocks from svcd over loopback; round trip 100 ms where there are three peers",
      fromFile,
      onePeer: to(one),
      threeFarPeers: to(three),
      oneOfThreeStalls: to(oneStalls),
      twentySendGarbage: { ...amongGarbage, toOnePeer: amongGarbage.seconds / one.seconds },
      hundredIdlePeers: idle,
      headers: await headerRate(records.map((bytes) => decodeBlock(bytes)))
    }
  } finally {
    for (const line of lines) line.close()
    await server.stop()
  }
}
