/** Whether what is typed belongs to an input. */
export function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    target.closest('input, textarea, select, [contenteditable], [role=dialog]') !== null
  )
}

/** Whether a dialog lies over the page: keys that lead elsewhere would take away what it shows or asks. */
export function isUnderDialog(): boolean {
  return document.querySelector('[role=dialog][aria-modal=true]') !== null
}
