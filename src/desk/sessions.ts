import { createHmac, timingSafeEqual } from "node:crypto"
import { randomBytes, randomHex } from "../base/entropy.ts"
import { EvictingPlaces } from "../base/EvictingPlaces.ts"
import { hashOfToken, newSecretToken } from "../base/secretToken.ts"
import type { AdmittedUser } from "../rpc/method/permission.ts"
import { Confirmations } from "./confirmations.ts"

/** A session ends by log-out, after idle time, after a maximum time, and with the process. */

/** Milliseconds after the last request, and after the log-in, at which a session ends. */
export const IDLE_MS = 20 * 60_000
export const LONGEST_MS = 8 * 3_600_000

/** Milliseconds for which a proof that it is the user counts: as long as a page can be confirmed. */
export const VERIFIED_MS = 15 * 60_000

/** A further log-in ends the least recently used session of the user with the most. */
export const MOST_SESSIONS = 32

const KEY_BYTES = 32

const NAME_BYTES = 4

/** How a user signed in, and can prove again that it is the user. */
export type SignIn = "link" | "password"

/** Times are milliseconds of a monotonic clock. */
export class DeskSession {
  readonly user: AdmittedUser
  readonly signIn: SignIn
  readonly confirmations: Confirmations
  /** `undefined` until one is known. */
  wallet: string | undefined
  readonly begun: number
  used: number
  verified: number | undefined
  /** The confirmation that waits for a fresh link. */
  waiting: string | undefined
  readonly #key = randomBytes(KEY_BYTES)

  constructor(
    { confirmations, signIn, user }: Pick<DeskSession, "confirmations" | "signIn" | "user">,
    now: number
  ) {
    this.user = user
    this.signIn = signIn
    this.begun = now
    this.used = now
    this.confirmations = confirmations
  }

  /** For forms that act on a wallet: invalid once another one is chosen. */
  formToken(wallet: string | undefined): string {
    return createHmac("sha256", this.#key).update(JSON.stringify([wallet])).digest("base64url")
  }

  /** Protects the forms of a session from forged requests (CSRF). Compares in constant time. */
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

const valueIn = (cookie: string | undefined, { name }: { readonly name: string }): string | undefined =>
  cookie?.split(";").map((part) => part.trim()).find((part) => part.startsWith(`${name}=`))?.slice(name.length + 1)

interface Tokens {
  readonly token: string
  readonly reader: string
}

export class DeskSessions {
  readonly #sessions = new Map<string, DeskSession>()
  /** The same sessions by the hash of what opens the pages about the node, and nothing else. */
  readonly #readers = new Map<string, DeskSession>()
  readonly #places = new EvictingPlaces<string>(MOST_SESSIONS, (key) => this.#end(key))
  /** Unique per process: a browser sends a host's cookies to all its ports, where other nodes may be. */
  readonly #suffix = randomHex(NAME_BYTES)
  readonly #cookieName = `svcd_desk_${this.#suffix}`
  readonly #readerName = `svcd_pages_${this.#suffix}`
  /** By user, as many as configured. They last as long as the process. */
  readonly #confirmations = new Map<string, Confirmations>()

  tokenOf(cookie: string | undefined): string | undefined {
    return valueIn(cookie, { name: this.#cookieName })
  }

  /**
   * For the desk's pages: without a path a browser takes that of the request. And for the pages about the node, at every
   * path, and so for every program at the address of this machine: it reads, and opens no wallet.
   */
  cookies({ reader, token }: Tokens, { secure }: { readonly secure: boolean }): ReadonlyArray<string> {
    const rest = (value: string): string =>
      `HttpOnly; SameSite=Strict${secure ? "; Secure" : ""}${value === "" ? "; Max-Age=0" : ""}`
    return [
      `${this.#cookieName}=${token}; ${rest(token)}`,
      `${this.#readerName}=${reader}; Path=/; ${rest(reader)}`
    ]
  }

  /** Returns the tokens, of which only hashes are kept. */
  begin(signIn: SignIn, user: AdmittedUser, now: number): Tokens & { readonly session: DeskSession } {
    this.#forget(now)
    const [token, reader] = [newSecretToken(), newSecretToken()]
    const session = new DeskSession({ signIn, user, confirmations: this.#confirmationsOf(user) }, now)
    const key = hashOfToken(token)
    this.#sessions.set(key, session)
    this.#readers.set(hashOfToken(reader), session)
    this.#places.enter(key, [user.user])
    return { token, reader, session }
  }

  /** Counts as a use; `undefined` if the session has ended. */
  find(token: string | undefined, now: number): DeskSession | undefined {
    if (token === undefined) return undefined
    this.#forget(now)
    const key = hashOfToken(token)
    const session = this.#sessions.get(key)
    if (session === undefined) return undefined
    session.used = now
    this.#places.use(key, [session.user.user])
    return session
  }

  /** Does not count as a use, since pages about the node update automatically. */
  readerOf(cookie: string, now: number): AdmittedUser | undefined {
    const reader = valueIn(cookie, { name: this.#readerName })
    if (reader === undefined) return undefined
    this.#forget(now)
    return this.#readers.get(hashOfToken(reader))?.user
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
    if (session === undefined) return
    session.confirmations.close(session)
    this.#sessions.delete(key)
    for (const [reader, each] of this.#readers) if (each === session) this.#readers.delete(reader)
    this.#places.leave(key)
  }

  end(token: string | undefined): void {
    if (token !== undefined) this.#end(hashOfToken(token))
  }

  /** Ends the session that a link began; false if it has ended already. */
  close(session: object): boolean {
    for (const [key, each] of this.#sessions) {
      if (each !== session) continue
      this.#end(key)
      return true
    }
    return false
  }
}
