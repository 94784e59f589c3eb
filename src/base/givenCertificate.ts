import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Runtime from "effect/Runtime"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import { createSecureContext } from "node:tls"
import { codeOf, MISSING_FILE, reasonOf } from "./errorCode.ts"
import { readGivenNow } from "./givenFile.ts"
import { shownPath } from "./safeText.ts"

/** Certificates of listeners with TLS, which renewal programs replace while the node runs. */

export class CertificateUnusable extends Schema.TaggedError<CertificateUnusable>()("CertificateUnusable", {
  use: Schema.Literal("DNS", "Electrum"),
  path: Schema.String,
  reason: Schema.String,
  /** Whether svcd made the certificate, so that no option names its files. */
  isOwn: Schema.optional(Schema.Boolean)
}) {
  override get message(): string {
    const what = `certificate for ${this.use}: ${shownPath(this.path)}: ${this.reason}`
    if (this.isOwn === true) return what
    return `${what}; check ${this.use === "DNS" ? "-dnscert and -dnskey" : "-electrumcert and -electrumkey"}`
  }
}

export interface CertificateFiles {
  readonly use: CertificateUnusable["use"]
  readonly certificate: string
  readonly key: string
}

/** In PEM. */
export interface KeyPair {
  readonly cert: Buffer
  readonly key: Buffer
}

/** Bytes. */
const LARGEST_FILE = 1_048_576

const readFile = (
  use: CertificateUnusable["use"],
  path: string
): Either.Either<Buffer, CertificateUnusable> =>
  Either.try({
    try: () => readGivenNow(path, LARGEST_FILE),
    catch: (error) => new CertificateUnusable({ use, path, reason: reasonOf(codeOf(error), MISSING_FILE) })
  })

const readPair = ({ certificate, key: keyPath, use }: CertificateFiles): Either.Either<KeyPair, CertificateUnusable> =>
  Either.gen(function*() {
    const cert = yield* readFile(use, certificate)
    const key = yield* readFile(use, keyPath)
    // Never the text of OpenSSL's errors: an encrypted key is the usual one, and the codes say enough.
    yield* Either.try({
      try: () => createSecureContext({ cert, key }),
      catch: (error) =>
        new CertificateUnusable({
          use,
          path: certificate,
          reason: `is not a certificate in PEM with the key of ${shownPath(keyPath)} (${codeOf(error)})`
        })
    })
    return { cert, key }
  })

const isSame = (a: KeyPair, b: KeyPair): boolean => a.cert.equals(b.cert) && a.key.equals(b.key)

export interface Certificate {
  readonly current: () => KeyPair
  /** Called with each pair that differs from the one before. */
  readonly onChange: (use: (pair: KeyPair) => void) => void
}

/** Reads the files now, upon SIGHUP, and once a day. A pair that cannot be used is logged, and the one before stays. */
export const loadCertificate = (
  files: CertificateFiles
): Effect.Effect<Certificate, CertificateUnusable, Scope.Scope> =>
  Effect.gen(function*() {
    let pair = yield* readPair(files)
    const users: Array<(pair: KeyPair) => void> = []
    const readAgain = Effect.suspend(() => {
      const read = readPair(files)
      if (Either.isLeft(read)) {
        return Effect.logError(`certificate for ${files.use} not read: the one before stays`, {
          reason: read.left.message
        })
      }
      if (isSame(read.right, pair)) return Effect.void
      pair = read.right
      for (const use of users) use(pair)
      return Effect.logInfo(`new certificate for ${files.use}`, { file: files.certificate })
    })
    const runFork = Runtime.runFork(yield* Effect.runtime<never>())
    const hangup = (): void => void runFork(readAgain)
    yield* Effect.acquireRelease(
      Effect.sync(() => void process.on("SIGHUP", hangup)),
      () => Effect.sync(() => void process.off("SIGHUP", hangup))
    )
    yield* Effect.forkScoped(Effect.schedule(readAgain, Schedule.spaced("1 day")))
    return { current: () => pair, onChange: (use) => void users.push(use) }
  })
