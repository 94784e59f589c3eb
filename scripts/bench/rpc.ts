import { spawn } from "node:child_process"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { regtestParams } from "../../src/consensus/params.ts"
import { CONNECTIONS, type Load, load } from "./callerLoad.ts"
import { NodeProcess, pause } from "./nodeProcess.ts"

const ROUNDS = 3

/** Calls in a batch. */
const BATCH = 100

/** Blocks that are held back, to be connected under load. */
const HELD_BACK = 50

/** Starts the server that does nothing but HTTP and JSON. */
const echoServer = (): Promise<{ readonly port: number; readonly stop: () => void }> =>
  new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [fileURLToPath(new URL("./rpcEcho.js", import.meta.url))])
    child.once("error", reject)
    child.stdout.once("data", (text: Buffer) => resolve({ port: Number(text.toString()), stop: () => child.kill() }))
  })

const post = async (port: number, body: object): Promise<unknown> => {
  const response = await fetch(`http://127.0.0.1:${port}`, { method: "POST", body: JSON.stringify(body) })
  return response.json()
}

export const { magic } = regtestParams.network

/** The length of a block as a block file stores it before the block. */
export const sizeOf = (record: Uint8Array): Uint8Array => {
  const size = Buffer.alloc(4)
  size.writeUInt32LE(record.length)
  return size
}

const middle = (rounds: ReadonlyArray<Load>): Load | undefined =>
  rounds.toSorted((a, b) => a.perSecond - b.perSecond)[rounds.length >> 1]

/** Milliseconds between two blocks: a thousand times as many as the network makes. */
const BETWEEN_BLOCKS = 100

/** Connects blocks one after the other during the load; returns how long each took, in milliseconds. */
export const connectBlocks = async (
  port: number,
  blocks: ReadonlyArray<Uint8Array>,
  between = BETWEEN_BLOCKS
): Promise<ReadonlyArray<number>> => {
  const took: Array<number> = []
  for (const block of blocks) {
    const since = performance.now()
    await post(port, { id: 1, method: "submitblock", params: [Buffer.from(block).toString("hex")] })
    took.push(performance.now() - since)
    await pause(between)
  }
  return took
}

/** The name whose record the load asks for. */
export const someName = async (port: number): Promise<string> => {
  const answer = await post(port, { id: 1, method: "name_scan", params: ["d/", 1] })
  const name = /"name":"([^"]+)"/.exec(JSON.stringify(answer))?.[1]
  if (name === undefined) throw new Error("the load chain has no names")
  return name
}

/**
 * `name_show` over keep-alive HTTP beside a bare node:http server that echoes JSON, in the same run; batches of it; and
 * how long answers take while blocks connect.
 */
export const benchRpc = async (directory: string, records: ReadonlyArray<Uint8Array>): Promise<object> => {
  const file = join(directory, "without-last.dat")
  const early = records.slice(0, -HELD_BACK)
  writeFileSync(file, Buffer.concat(early.flatMap((record) => [magic, sizeOf(record), record])))
  // Names live for 30 blocks on regtest: an answer must be the same before and after the blocks that are held back.
  const node = await NodeProcess.start({ args: ["-maxpeers", "0", "-allowexpired", "-loadblock", file] })
  const echo = await echoServer()
  try {
    await node.until("getblockcount", (count) => count === early.length - 1)
    const port = node.rpcPort
    const call = { id: 1, method: "name_show", params: [await someName(port)] }
    const one = JSON.stringify(call)
    const many = JSON.stringify(Array.from({ length: BATCH }, (_, id) => ({ ...call, id })))
    const [echoes, singles, batches]: [Array<Load>, Array<Load>, Array<Load>] = [[], [], []]
    for (let round = 0; round < ROUNDS; round++) {
      echoes.push(await load(echo.port, one))
      singles.push(await load(port, one))
      batches.push(await load(port, many))
    }
    const busy = load(port, one, HELD_BACK * BETWEEN_BLOCKS / 1000)
    const connected = await connectBlocks(port, records.slice(-HELD_BACK))
    const during = await busy
    const [bare, single, batch] = [middle(echoes), middle(singles), middle(batches)]
    if (bare === undefined || single === undefined || batch === undefined) throw new Error("nothing was measured")
    return {
      what: `name_show over HTTP, keep-alive, ${CONNECTIONS} connections; batches of ${BATCH}; milliseconds`,
      bareEcho: bare,
      nameShow: single,
      toBareEcho: single.perSecond / bare.perSecond,
      batch,
      namesInBatchesToSingle: batch.perSecond * BATCH / single.perSecond,
      whileBlocksConnect: { ...during, blocks: connected.length, slowestBlock: Math.max(...connected) }
    }
  } finally {
    echo.stop()
    await node.stop()
  }
}
