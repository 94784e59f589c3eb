import { fstatSync, writeFileSync } from "node:fs"
import { reasonOf } from "../../base/errorCode.ts"
import { outputText } from "../../base/safeText.ts"
import type { ProgramOutcome } from "./outcome.ts"

type Written = (error?: NodeJS.ErrnoException | null) => void

/** For a file or a device, Node.js may silently write only the first part of a text. */
const isWrittenInParts = ({ fd, isTTY }: NodeJS.WriteStream & { readonly fd: number }): boolean => {
  if (isTTY) return false
  const stats = fstatSync(fd)
  return stats.isFile() || stats.isCharacterDevice()
}

const isErrno = (error: unknown): error is NodeJS.ErrnoException => error instanceof Error && "code" in error

const writeAll = (stream: NodeJS.WriteStream & { readonly fd: number }, text: string, written: Written): void => {
  // The reader may close the pipe as soon as it has enough.
  stream.on("error", () => {})
  if (text === "" && stream.writableLength === 0) return written()
  if (!isWrittenInParts(stream)) return void stream.write(text, written)
  let failed: NodeJS.ErrnoException | undefined
  try {
    writeFileSync(stream.fd, text)
  } catch (error) {
    if (!isErrno(error)) throw error
    failed = error
  }
  written(failed)
}

/** A reader that stops early is not a failure; a lost or cut answer, as on a full disk, is one. */
const isLoss = (error: NodeJS.ErrnoException | null | undefined): error is NodeJS.ErrnoException =>
  error !== undefined && error !== null && error.code !== "EPIPE"

/** Without misleading characters. The exit status is 1 if standard output does not take it all. */
export const printLast = (
  program: string,
  { code, stderr, stdout }: ProgramOutcome,
  done: () => void = () => {}
): void => {
  process.exitCode = code
  writeAll(process.stdout, outputText(stdout), (error) => {
    const lost = isLoss(error)
    if (lost) process.exitCode = code || 1
    const why = lost
      ? `${program}: standard output did not accept the whole text: ${reasonOf(error.code ?? error.message)}\n`
      : ""
    writeAll(process.stderr, outputText(stderr + why), done)
  })
}
