import * as Effect from "effect/Effect"
import type { RpcClientError } from "../../rpc/RpcClient.ts"
import type { OwnContext } from "./commandContext.ts"
import { indented, objectOf } from "./jsonText.ts"
import { type CliOutcome, success } from "./outcome.ts"

/** `svcd-cli receive`: a new address of the wallet. */

export const receiveCommand = (
  { daemon, line }: Pick<OwnContext, "daemon" | "line">
): Effect.Effect<CliOutcome, RpcClientError> => {
  const [label = ""] = line.words
  return Effect.map(daemon.call("getnewaddress", [label]), (address) =>
    success(
      line.wants("json")
        ? `${indented(objectOf({ address, label }))}\n`
        : `${typeof address === "string" ? address : ""}\n`
    ))
}
