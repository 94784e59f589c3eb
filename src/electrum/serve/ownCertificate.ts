import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type * as Scope from "effect/Scope"
import { X509Certificate } from "node:crypto"
import { existsSync } from "node:fs"
import { isIP } from "node:net"
import { join } from "node:path"
import { makeDirectoryDurably, replaceFile } from "../../base/atomicFile.ts"
import { codeOf, reasonOf } from "../../base/errorCode.ts"
import { type Certificate, CertificateUnusable, loadCertificate } from "../../base/givenCertificate.ts"
import { keepPrivate } from "../../base/privateFile.ts"
import { certificateFingerprint, makeSelfSigned } from "./selfSigned.ts"

/** The certificate of the listeners with TLS. */

export interface CertificateOptions {
  readonly certificate: string | undefined
  readonly key: string | undefined
  /** Names under which clients reach the server. */
  readonly hosts: ReadonlyArray<string>
  /** `electrum/` of the data directory. */
  readonly directory: string
}

const NAMELESS = "svcd"

const write = (
  { content, path }: { readonly content: string; readonly path: string }
): Effect.Effect<void, CertificateUnusable> =>
  Effect.tryPromise({
    try: () => replaceFile(path, [content]),
    catch: (error) => new CertificateUnusable({ use: "Electrum", path, reason: reasonOf(codeOf(error)) })
  })

/** The key is written first: a certificate without its key would be kept. */
const make = (
  { directory, hosts }: CertificateOptions,
  files: { readonly certificate: string; readonly key: string }
) =>
  Effect.gen(function*() {
    const [first = NAMELESS, ...others] = hosts.map((host) => host.replace(/\.$/, ""))
    const made = makeSelfSigned(
      [first, ...others],
      new Date(yield* Effect.clockWith((clock) => clock.currentTimeMillis))
    )
    yield* Effect.tryPromise({
      try: () => makeDirectoryDurably(directory),
      catch: (error) => new CertificateUnusable({ use: "Electrum", path: directory, reason: reasonOf(codeOf(error)) })
    })
    yield* write({ path: files.key, content: made.key })
    yield* write({ path: files.certificate, content: made.cert })
    yield* Effect.logInfo("new certificate for Electrum clients", { file: files.certificate })
  })

/** Clients pin the certificate, so no new one takes the place of one that lost a file. */
const lostFile = (path: string): CertificateUnusable =>
  new CertificateUnusable({
    use: "Electrum",
    path,
    reason: "is missing, while the other file of the certificate that svcd made is there; restore it, or remove both " +
      "files for a new certificate",
    isOwn: true
  })

/** Names the hosts that a certificate of an earlier start does not have. */
const warnOfHosts = (
  { hosts }: CertificateOptions,
  { file, loaded }: { readonly loaded: Certificate; readonly file: string }
): Effect.Effect<void> => {
  const certificate = Either.getOrUndefined(Either.try(() => new X509Certificate(loaded.current().cert)))
  const missing = hosts.map((host) => host.replace(/\.$/, "")).filter((host) =>
    certificate !== undefined &&
    (isIP(host) === 0 ? certificate.checkHost(host) : certificate.checkIP(host)) === undefined
  )
  return missing.length === 0
    ? Effect.void
    : Effect.logWarning("the certificate for Electrum clients does not have all hosts of -electrumhost", {
      missing: missing.join(", "),
      file,
      remedy: "remove it with key.pem for a new one, which clients that pinned it refuse"
    })
}

/** The given certificate, or one that svcd makes on the first start and keeps: clients pin it. */
export const electrumCertificate = (
  options: CertificateOptions
): Effect.Effect<Certificate, CertificateUnusable, Scope.Scope> =>
  Effect.gen(function*() {
    const { certificate, directory, key } = options
    if (certificate !== undefined && key !== undefined) {
      return yield* loadCertificate({ use: "Electrum", certificate, key })
    }
    const own = { certificate: join(directory, "certificate.pem"), key: join(directory, "key.pem") }
    const missing = [own.certificate, own.key].filter((file) => !existsSync(file))
    if (missing.length === 2) yield* make(options, own)
    else yield* Effect.forEach(missing, lostFile, { discard: true })
    keepPrivate(own.key)
    const loaded = yield* loadCertificate({ use: "Electrum", ...own })
    yield* warnOfHosts(options, { loaded, file: own.certificate })
    return loaded
  })

/** What clients pin; `undefined` if the certificate cannot be read as one. */
export const shownFingerprint = (certificate: Certificate): string | undefined =>
  Either.getOrUndefined(Either.try(() => certificateFingerprint(certificate.current().cert)))
