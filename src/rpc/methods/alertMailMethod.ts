import * as Effect from "effect/Effect"
import { AlertMail } from "../../alerts/mail/AlertMail.ts"
import { TESTALERTMAIL } from "../contract/control/alertMail.ts"
import { method } from "../method/method.ts"
import type { Methods } from "../method/methodTable.ts"
import { RpcError } from "../method/RpcError.ts"

/** Only in svcd (docs/alerts.md). */

export const alertMailMethods: Methods<AlertMail> = Effect.map(
  AlertMail,
  ({ test }) => [
    method(TESTALERTMAIL, () =>
      Effect.mapBoth(test, {
        onFailure: ({ message }) => RpcError.misc(message),
        onSuccess: (outcomes) =>
          outcomes.map(({ address, answer, isAccepted }) => ({ address, accepted: isAccepted, answer }))
      }))
  ]
)
