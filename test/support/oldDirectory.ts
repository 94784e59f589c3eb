import { cpSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { RpcClient } from "../../scripts/crash/rpc.ts"
import { unpack } from "../../scripts/upgrade/archive.ts"
import { SECOND } from "../../scripts/upgrade/fill.ts"
import { type Recorded, recordedAnswer } from "../../scripts/upgrade/questions.ts"
import { fixtureBytes, fixtureJson } from "./fixtures.ts"
import { withDirectoryAsync } from "./temporary.ts"

/** Data directories of svcd 0.1.0: `test/fixtures/data-directory-0.1.0/README.md`. */

const FIXTURE = "data-directory-0.1.0"

/** How the node that wrote the directory ended. */
export type Kind = "stopped" | "killed"

const recorded = fixtureJson<Readonly<Record<Kind, ReadonlyArray<Recorded>>>>(`${FIXTURE}/answers.json`)

let unpacked: string | undefined

const unpackedOnce = (): string => {
  if (unpacked !== undefined) return unpacked
  const place = mkdtempSync(join(tmpdir(), "svcd-test-"))
  process.once("exit", () => rmSync(place, { recursive: true, force: true }))
  unpack(fixtureBytes(`${FIXTURE}/directories.br`), place)
  unpacked = place
  return place
}

/** Runs work with a copy of such a directory. */
export const withOldDirectory = (kind: Kind, use: (directory: string) => Promise<void>): Promise<void> =>
  withDirectoryAsync(async (place) => {
    const directory = join(place, "data")
    cpSync(join(unpackedOnce(), kind), directory, { recursive: true })
    await use(directory)
  })

/** Answers that differ from those of 0.1.0, but for members that are new. */
export const otherAnswers = async (port: number, kind: Kind): Promise<ReadonlyArray<string>> => {
  const [rpc, second] = [new RpcClient(port), new RpcClient(port, SECOND)]
  const differences: Array<string> = []
  for (const { answer, question, wallet } of recorded[kind]) {
    const now = recordedAnswer(question, await (wallet === "" ? rpc : second).ask(question))
    if (now !== answer) differences.push(`${wallet} ${JSON.stringify(question)}: ${now} and not ${answer}`)
  }
  return differences
}
