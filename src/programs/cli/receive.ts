import * as Effect from "effect/Effect"
import type { RpcClientError } from "../../rpc/RpcClient.ts"
import type { OwnContext } from "./commandContext.ts"
import { indented, objectOf } from "./jsonText.ts"
import { type CliOutcome, success } from "./outcome.ts"

export const receiveCommand = (
  { daemon, input: { screen }, line }: Pick<OwnContext, "daemon" | "input" | "line">
): Effect.Effect<CliOutcome, RpcClientError> => {
  const [label = ""] = line.words
  return Effect.gen(function*() {
    const answer = yield* daemon.call("getnewaddress", [label])
    if (line.wants("json")) return success(`${indented(objectOf({ address: answer, label }))}\n`)
    const address = typeof answer === "string" ? answer : ""
    if (!screen.terminal) return success(`${address}\n`)
    const { qrLines } = yield* Effect.promise(() => import("./qrLines.ts"))
    return success([address, ...qrLines(`namecoin:${address}`, screen), ""].join("\n"))
  })
}
