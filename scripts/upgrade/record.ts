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
 * Makes data directories with another version of svcd and writes them to a folder, packed, with that version's answers:
 * `stopped` is of a node that was stopped in good order, `killed` of the same one after another block and SIGKILL.
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
  /** That version's answers on a directory, which stays unchanged. */
  const answersOf = async (directory: string): Promise<ReadonlyArray<Recorded>> => {
    const copy = `${directory}-copy`
    cpSync(directory, copy, { recursive: true })
    const { daemon, rpc, second } = await started(copy)
    const answers = await record(rpc, second)
    await stop(daemon)
    rmSync(copy, { recursive: true })
    return answers
  }
  try {
    const directory = join(workplace.path, "data")
    const both = join(workplace.path, "both")
    const first = await started(directory)
    await fill(first)
    await stop(first.daemon)
    const ended = join(both, "stopped")
    cpSync(directory, ended, { recursive: true })
    const next = await started(directory)
    await next.rpc.call("generatetoaddress", 1, await next.rpc.call("getnewaddress", "after the block"))
    await next.rpc.call("sendtoaddress", await next.rpc.call("getnewaddress"), 0.5, "before the kill")
    await next.daemon.kill()
    cpSync(directory, join(both, "killed"), { recursive: true })
    const packed = pack(both)
    const answers = gzipSync(
      JSON.stringify({ stopped: await answersOf(ended), killed: await answersOf(join(both, "killed")) }),
      { level: 9 }
    )
    mkdirSync(out, { recursive: true })
    writeFileSync(join(out, "directories.br"), packed)
    writeFileSync(join(out, "answers.json.gz"), answers)
    process.stdout.write(`directories ${packed.length} bytes, answers ${answers.length} bytes\n`)
  } finally {
    workplace.remove()
  }
}

const [program, out] = process.argv.slice(2)
if (program === undefined || out === undefined) {
  process.stderr.write("usage: record.js <bin/svcd.js of a version> <folder>\n")
  process.exitCode = 2
} else await main(program, out)
