/** The system's error code, such as `ENOENT`. For an error without a code, its text. */
export const codeOf = (error: unknown): string =>
  error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : String(error)
