import * as Schema from "effect/Schema"
import { controlContract } from "../../method/contract.ts"
import * as Result from "../../method/results.ts"

const LINK = Schema.Struct({
  path: Result.string("Path and query of the link, below the address of the desk"),
  expires_in: Result.integer("Seconds for which it can be used"),
  behind_proxy: Result.boolean("Whether a proxy brings other machines to the desk (-webwalletproxy)")
})

export const DESK_OFF = "the desk is off: set webwallet = true in svcd.conf, and restart"

export const CREATEDESKLINK = controlContract({
  name: "createdesklink",
  // Its session can do what the caller can, and no more.
  right: "read",
  writes: true,
  summary:
    "Makes a link that signs a browser in to the desk once, within ten minutes. The session has the rights of the caller. A user has " +
    "at most 16 links, and a further one takes the place of the oldest.",
  params: {},
  results: [{ schema: LINK }],
  examples: [[]],
  errors: [`-1 ${DESK_OFF}`, "-1 the desk needs a user: call with credentials"]
})
