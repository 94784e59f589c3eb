const leftovers = new Set<() => void>()
let watching = false

/** Has something undone when this process ends, however it does; the returned function takes it back. */
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
