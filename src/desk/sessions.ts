import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto"
import { EvictingPlaces } from "../base/EvictingPlaces.ts"
import type { AdmittedUser } from "../http/Pages.ts"
import { Confirmations } from "./confirmations.ts"

/**
 * A session ends by log-out, after idle time, after a maximum time, and with the process. Only a token's hash is kept,
 * so that a copy of the memory shows no usable token.
 */

/** Milliseconds after the last request, and after the log-in, at which a session ends. */
export const IDLE_MS = 20 * 60_000
export const LONGEST_MS = 8 * 3_600_000

/** Milliseconds for which a repeated password counts. */
export const VERIFIED_MS = 5 * 60_000

/** A further log-in ends the least recently used session of the user with the most. */
export const MOST_SESSIONS = 32

const TOKEN_BYTES = 32

const NAME_BYTES = 4

const hashOf = (token: string): string => createHash("sha256").update(token).digest("base64")

/** Times are milliseconds of a monotonic clock. */
export class DeskSession {
  readonly user: AdmittedUser
  readonly confirmations: Confirmations
  /** `undefined` until one is known. */
  wallet: string | undefined
  readonly begun: number
  used: number
  verified: number | undefined
  readonly #key = randomBytes(TOKEN_BYTES)

  constructor({ confirmations, user }: Pick<DeskSession, "user" | "confirmations">, now: number) {
    this.user = user
    this.begun = now
    this.used = now
    this.confirmations = confirmations
  }

  /** For forms that act on a wallet: invalid once another one is chosen. */
  formToken(wallet: string | undefined): string {
    return createHmac("sha256", this.#key).update(JSON.stringify([wallet])).digest("base64url")
  }

  isFormToken(given: string | null): boolean {
    const [right, token] = [Buffer.from(this.formToken(this.wallet)), Buffer.from(given ?? "")]
    return right.length === token.length && timingSafeEqual(right, token)
  }

  isVerified(now: number): boolean {
    return this.verified !== undefined && now - this.verified < VERIFIED_MS
  }
}

export const isOver = ({ begun, used }: Pick<DeskSession, "begun" | "used">, now: number): boolean =>
  now - used >= IDLE_MS || now - begun >= LONGEST_MS

export class DeskSessions {
  readonly #sessions = new Map<string, DeskSession>()
  readonly #places = new EvictingPlaces<string>(MOST_SESSIONS, (key) => this.#end(key))
  /** Unique per process: a browser sends a host's cookies to all its ports, where other nodes may be. */
  readonly #cookieName = `svcd_desk_${randomBytes(NAME_BYTES).toString("hex")}`
  /** By user, as many as configured. They last as long as the process. */
  readonly #confirmations = new Map<string, Confirmations>()

  tokenOf(cookie: string | undefined): string | undefined {
    const name = `${this.#cookieName}=`
    return cookie?.split(";").map((part) => part.trim()).find((part) => part.startsWith(name))?.slice(name.length)
  }

  /** For the desk's pages only: without a path a browser takes that of the request. */
  cookie(token: string, { secure }: { readonly secure: boolean }): string {
    const ending = `${secure ? "; Secure" : ""}${token === "" ? "; Max-Age=0" : ""}`
    return `${this.#cookieName}=${token}; HttpOnly; SameSite=Strict${ending}`
  }

  /** Returns the token, which is stored nowhere. */
  begin(user: AdmittedUser, now: number): { readonly token: string; readonly session: DeskSession } {
    this.#forget(now)
    const token = randomBytes(TOKEN_BYTES).toString("base64url")
    const session = new DeskSession({ user, confirmations: this.#confirmationsOf(user) }, now)
    const key = hashOf(token)
    this.#sessions.set(key, session)
    this.#places.enter(key, [user.user])
    return { token, session }
  }

  /** Counts as a use; `undefined` if the session has ended. */
  find(token: string | undefined, now: number): DeskSession | undefined {
    if (token === undefined) return undefined
    this.#forget(now)
    const key = hashOf(token)
    const session = this.#sessions.get(key)
    if (session === undefined) return undefined
    session.used = now
    this.#places.use(key, [session.user.user])
    return session
  }

  #forget(now: number): void {
    for (const [key, session] of this.#sessions) if (isOver(session, now)) this.#end(key)
  }

  #confirmationsOf({ user }: AdmittedUser): Confirmations {
    const known = this.#confirmations.get(user)
    if (known !== undefined) return known
    const made = new Confirmations()
    this.#confirmations.set(user, made)
    return made
  }

  /** A confirmation that it left open may hold a passphrase. */
  #end(key: string): void {
    const session = this.#sessions.get(key)
    session?.confirmations.close(session)
    this.#sessions.delete(key)
    this.#places.leave(key)
  }

  end(token: string | undefined): void {
    if (token !== undefined) this.#end(hashOf(token))
  }
}
