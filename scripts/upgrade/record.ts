import { cpSync, mkdirSync, rmSync, writeFileSync } from "node:fs"
import { join, resolve } from "node:path"
import { gzipSync } from "node:zlib"
import { DaemonProcess } from "../crash/DaemonProcess.ts"
import { RpcClient } from "../crash/rpc.ts"
import { makeWorkplace } from "../crash/workplace.ts"
import { pack } from "./archive.ts"
import { fill, SECOND } from "./fill.ts"
import { FIXTURE_FLAGS, record, type Recorded } from "./questions.ts"

/**
 * Makes a data directory with another version of svcd and writes it to a folder, packed, with what that version answers:
 * `stopped` by a node that was ended in good order, `killed` by one that was killed after another block.
 *
 *     node build/scripts/upgrade/record.js <bin/svcd.js of that version> <folder>
 */
const main = async (program: string, out: string): Promise<void> => {
  const workplace = makeWorkplace()
  const started = async (directory: string) => {
    const daemon = await DaemonProcess.spawn({ directory, args: FIXTURE_FLAGS, program: resolve(program) })
    const start = await daemon.start()
    if (!start.ready) throw new Error(start.reason)
    return { daemon, rpc: daemon.rpc, second: new RpcClient(daemon.port, SECOND) }
  }
  const stop = async (daemon: DaemonProcess): Promise<void> => {
    if (!await daemon.stop()) throw new Error(`it did not end in good order: ${daemon.words}`)
  }
  /** What that version answers of a directory, which stays as it is. */
  const answersOf = async (directory: string): Promise<ReadonlyArray<Recorded>> => {
    const copy = `${directory}-copy`
    cpSync(directory, copy, { recursive: true })
    const { daemon, rpc, second } = await started(copy)
    const answers = await record(rpc, second)
    await stop(daemon)
    rmSync(copy, { recursive: true })
    return answers
  }
  const write = async (name: string, directory: string): Promise<void> => {
    const packed = pack(directory)
    const answers = gzipSync(JSON.stringify(await answersOf(directory)), { level: 9 })
    mkdirSync(out, { recursive: true })
    writeFileSync(join(out, `${name}.gz`), packed)
    writeFileSync(join(out, `${name}.answers.json.gz`), answers)
    process.stdout.write(`${name}: ${packed.length} bytes, answers ${answers.length} bytes\n`)
  }
  try {
    const directory = join(workplace.path, "data")
    const first = await started(directory)
    await fill(first)
    await stop(first.daemon)
    await write("stopped", directory)
    const next = await started(directory)
    await next.rpc.call("generatetoaddress", 1, await next.rpc.call("getnewaddress", "after the block"))
    await next.rpc.call("sendtoaddress", await next.rpc.call("getnewaddress"), 0.5, "before the kill")
    await next.daemon.kill()
    await write("killed", directory)
  } finally {
    workplace.remove()
  }
}

const [program, out] = process.argv.slice(2)
if (program === undefined || out === undefined) {
  process.stderr.write("usage: record.js <bin/svcd.js of a version> <folder>\n")
  process.exitCode = 2
} else await main(program, out)
