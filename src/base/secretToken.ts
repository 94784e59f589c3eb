import { createHash } from "node:crypto"
import { randomBytes } from "./entropy.ts"

const TOKEN_BYTES = 32

/** 43 characters of base64url, from 256 random bits. */
export const newSecretToken = (): string => Buffer.from(randomBytes(TOKEN_BYTES)).toString("base64url")

/** Kept in place of the token, so that a copy of the memory shows no usable one. */
export const hashOfToken = (token: string): string => createHash("sha256").update(token).digest("base64")
