/** The system's word for what went wrong with a file, such as `ENOENT`; the text of an error that is not the system's. */
export const codeOf = (error: unknown): string =>
  error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : String(error)
