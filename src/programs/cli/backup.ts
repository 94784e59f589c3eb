import * as Effect from "effect/Effect"
import { isAbsolute } from "node:path"
import { formatHostPort, isLoopback } from "../../base/addresses.ts"
import { absolutePath } from "../../config/gather.ts"
import { RPC_CODE, type RpcReason } from "../../rpc/method/RpcError.ts"
import type { RpcClientError, RpcFailure } from "../../rpc/RpcClient.ts"
import type { OwnContext } from "./commandContext.ts"
import { indented, numberAt, objectOf } from "./jsonText.ts"
import { type CliOutcome, CommandFailed, success } from "./outcome.ts"
import { shownText } from "./textWidth.ts"

/** `svcd-cli backup`: a copy of the wallet file, which the daemon writes on its own machine. */

/** The daemon's text before its reason. */
const FAILED = /^Error: Wallet backup failed! (?:writing .* failed: )?/s

const remedyFor = (reason: RpcReason | undefined, isHere: boolean): string | undefined => {
  switch (reason) {
    case "file-exists":
      return "a backup replaces no file: give another name"
    case "disk-full":
      return "make room there, or give a path on another disk"
    case "file-refused":
      return `the daemon writes the file${isHere ? "" : ", on its own machine"}: give a path where its user may write`
    default:
      return undefined
  }
}

/** The daemon's advice behind a semicolon is for its own files. */
const why = ({ message, reason }: RpcFailure, isHere: boolean): CommandFailed => {
  const [problem = ""] = message.replace(FAILED, "").split("; ")
  return new CommandFailed({
    message: `the wallet was not copied: ${shownText(problem)}`,
    remedy: remedyFor(reason, isHere)
  })
}

export const backupCommand = (
  { connection: { rpc }, daemon, input, line }: OwnContext
): Effect.Effect<CliOutcome, RpcClientError | CommandFailed> =>
  Effect.gen(function*() {
    const [file = ""] = line.words
    const isHere = isLoopback(rpc.host)
    if (file.trim() === "") return yield* new CommandFailed({ message: "the path of the copy is empty" })
    if (!isHere && !isAbsolute(file)) {
      return yield* new CommandFailed({
        message: `the daemon at ${
          formatHostPort(rpc)
        } is on another machine, and writes the copy there; nothing was done`,
        remedy: "give the whole path of a file on that machine"
      })
    }
    // The daemon has another working directory.
    const path = isHere ? absolutePath(file, input) : file
    const isEncrypted = numberAt(yield* daemon.ask("getwalletinfo"), "unlocked_until") !== undefined
    yield* Effect.mapError(
      daemon.call("backupwallet", [path]),
      (error) => error._tag === "RpcFailure" && error.code === RPC_CODE.wallet ? why(error, isHere) : error
    )
    if (line.wants("json")) return success(`${indented(objectOf({ path, encrypted: isEncrypted }))}\n`)
    const where = isHere ? "" : `, on the machine of the daemon at ${formatHostPort(rpc)}`
    return success(
      `The wallet was copied to ${shownText(path)}${where}.\n` +
        (isEncrypted
          ? "The copy opens with the passphrase that the wallet has now.\n"
          : "The copy is not encrypted: anyone who reads it can take the coins and names of the wallet.\n") +
        "Keep it on another disk.\n"
    )
  })
