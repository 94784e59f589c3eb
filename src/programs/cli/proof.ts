import * as Effect from "effect/Effect"
import { writeFileSync } from "node:fs"
import { codeOf, reasonOf } from "../../base/errorCode.ts"
import { grouped, quantityOf } from "../../base/quantities.ts"
import { readNameDocument } from "../../names/nameEvidence.ts"
import { toHex } from "../../protocol/bytes.ts"
import { decodeText } from "../../protocol/nameText.ts"
import { encodeJson } from "../../rpc/json/encodeJson.ts"
import { isFailure, type NameProof } from "../../verify/nameProof.ts"
import type { CommandError, OwnContext } from "./commandContext.ts"
import { objectOf } from "./jsonText.ts"
import { noteLines, readingSurprises, readWord } from "./nameHints.ts"
import { type CliOutcome, CommandFailed, NAME } from "./outcome.ts"
import { shownText } from "./textWidth.ts"

const write = (
  { file, text }: { readonly file: string; readonly text: string }
): Effect.Effect<void, CommandFailed> =>
  Effect.try({
    try: () => writeFileSync(file, text),
    catch: (error) => new CommandFailed({ message: `${shownText(file)} cannot be written: ${reasonOf(codeOf(error))}` })
  })

/** Says of a proof with `-chain` that it ends before the registration. */
const shortNote = ({ operations, since }: NameProof): string => {
  const oldest = operations.at(-1)
  return oldest === undefined || oldest.height === since ?
    "" :
    `${NAME}: note: the proof has no operation before block ${
      grouped(oldest.height)
    }: the node lacks its block, or it is too much for a proof\n`
}

/** Prints the proof of a name, or writes it to a file. Exits with status 1 for a name that does not exist. */
export const proofCommand = (
  { daemon, line }: Pick<OwnContext, "daemon" | "line">,
  headers: number
): Effect.Effect<CliOutcome, CommandError> =>
  Effect.gen(function*() {
    const { surprises, text: name } = yield* readWord(line.words[0])
    const bytes = decodeText(name, "utf8") ?? new Uint8Array(0)
    const options = objectOf({ nameEncoding: "hex", headers, chain: line.wants("chain") })
    const reply = yield* daemon.ask("name_proof", [toHex(bytes), options])
    const json = encodeJson(reply)
    const document = readNameDocument(json, bytes)
    if (isFailure(document)) {
      return yield* new CommandFailed({
        message: `the daemon's proof is invalid: ${shownText(document.failed)}`,
        remedy: "The daemon may be another version of svcd."
      })
    }
    if ("absent" in document) {
      return yield* new CommandFailed({
        message: `${shownText(name)} does not exist, and that cannot be proven`,
        remedy: "A proof can only show a name with a record."
      })
    }
    const notes = noteLines(readingSurprises({ surprises })) + (line.wants("chain") ? shortNote(document) : "")
    const file = line.text("out")
    if (file === undefined) return { code: 0, stdout: `${json}\n`, stderr: notes }
    yield* write({ file, text: `${json}\n` })
    const blocks = document.operations[0]?.headers.length ?? 0
    const parts = `${quantityOf(document.operations.length, "operation")}, ${quantityOf(blocks, "header")}`
    return { code: 0, stdout: `${shownText(file)}: ${grouped(json.length)} bytes, ${parts}\n`, stderr: notes }
  })
