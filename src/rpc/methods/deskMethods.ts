import * as Effect from "effect/Effect"
import { CREATEDESKLINK, DESK_OFF } from "../contract/control/desk.ts"
import { DeskLinks, LINK_MS } from "../DeskLinks.ts"
import { method } from "../method/method.ts"
import type { Methods } from "../method/methodTable.ts"
import { RpcError } from "../method/RpcError.ts"

/** Only in svcd (docs/desk.md). */

export const deskMethods: Methods<DeskLinks> = Effect.map(
  DeskLinks,
  ({ behindProxy, book }) => [
    method(CREATEDESKLINK, (_, { user, wallet }) =>
      Effect.suspend(() => {
        if (book === undefined) return RpcError.misc(DESK_OFF)
        if (user === undefined) return RpcError.misc("the desk needs a user: call with credentials")
        const token = book.make(user, { wallet })
        return Effect.succeed({
          path: `/desk/open?link=${token}`,
          expires_in: LINK_MS / 1000,
          behind_proxy: behindProxy
        })
      }))
  ]
)
