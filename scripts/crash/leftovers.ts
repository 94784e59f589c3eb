const leftovers = new Set<() => void>()
let watching = false

/** Runs `undo` when this process ends, however it does; the returned function cancels that. */
export const undoAtEnd = (undo: () => void): () => void => {
  if (!watching) process.on("exit", undoAll)
  watching = true
  leftovers.add(undo)
  return () => void leftovers.delete(undo)
}

const undoAll = (): void => {
  for (const undo of leftovers) undo()
  leftovers.clear()
}
