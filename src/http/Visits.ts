import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type { AdmittedUser } from "../rpc/method/permission.ts"
import type { Exchange } from "./Exchange.ts"
import type { PageVisit } from "./Pages.ts"
import type { Guesser, Penalties } from "./Penalties.ts"
import type { Permitted } from "./permissions.ts"
import { type HttpRefusal, NO_ROOM, TOO_LARGE } from "./refusals.ts"
import { BodyReader } from "./requestBody.ts"
import type { Session } from "./Session.ts"

/** Bytes of a form. The longest has a value of 520 bytes several times, with three characters per byte. */
const LONGEST_FORM = 65_536

const FORM_TYPE = /^application\/x-www-form-urlencoded(?:;|$)/i

export interface VisitRules {
  readonly admit: (authorization: string) => string | undefined
  readonly permittedTo: (user: string) => Permitted
  readonly penalties: Penalties
}

/** The listener, for pages with their own sessions. */
export class Visits {
  readonly #rules: VisitRules
  readonly #bodies = new BodyReader(LONGEST_FORM)

  constructor(rules: VisitRules) {
    this.#rules = rules
  }

  /** Reads the form of a request that can have one, for `visit`. */
  read(
    exchange: Exchange,
    { refuse, visit }: {
      readonly visit: (visit: PageVisit, release: () => void) => void
      readonly refuse: (refusal: HttpRefusal) => void
    }
  ): void {
    const { expectsContinue, request, response, session } = exchange
    if (request.method !== "POST") return visit(this.#visitOf(session, undefined), () => {})
    if (expectsContinue) response.writeContinue()
    const isForm = FORM_TYPE.test(request.headers["content-type"] ?? "")
    this.#bodies.read(request, session.memory, (body) => {
      if (body._tag !== "Complete") return refuse(body._tag === "TooLarge" ? TOO_LARGE : NO_ROOM)
      const text = isForm ? Buffer.from(body.bytes).toString("utf8") : ""
      visit(this.#visitOf(session, new URLSearchParams(text)), body.release)
    })
  }

  #visitOf(session: Session, form: URLSearchParams | undefined): PageVisit {
    const { client } = session
    return {
      peer: client.text,
      remote: !client.loopback,
      form,
      admit: (user, password) => admitInTurn(this.#rules, session, `${user}:${Redacted.value(password)}`)
    }
  }
}

interface WaitingClient extends Guesser {
  readonly whenGone: (then: () => void) => void
}

/** With the delay of wrong credentials. Those of a client that left are not checked. */
export const admitInTurn = (
  { admit, penalties, permittedTo }: VisitRules,
  client: WaitingClient,
  credentials: string
): Effect.Effect<AdmittedUser | undefined> => {
  const authorization = `Basic ${Buffer.from(credentials).toString("base64")}`
  return Effect.async((resume) => {
    const takeBack = penalties.await(client.key, () => {
      const user = admit(authorization)
      if (user === undefined) return penalties.serve(client, () => resume(Effect.succeed(undefined)))
      penalties.admitted(client.key)
      resume(Effect.succeed({ user, permitted: permittedTo(user) }))
    })
    if (takeBack === undefined) return undefined
    // Otherwise clients that left would take the places of calls.
    client.whenGone(() => {
      takeBack()
      resume(Effect.succeed(undefined))
    })
    return Effect.sync(takeBack)
  })
}
