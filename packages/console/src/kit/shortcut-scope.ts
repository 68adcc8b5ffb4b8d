/** Whether what is typed belongs to an input. */
function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    target.closest('input, textarea, select, [contenteditable], [role=dialog]') !== null
  )
}

/** Whether a dialog lies over the page, its own or one that covers it: what is beneath waits for it. */
export function isUnderDialog(): boolean {
  return document.querySelector('[role=dialog][aria-modal=true]') !== null
}

/** Whether a key that is pressed may be a shortcut of the page: no input has it, and no dialog lies over the page. */
export function isForPage(event: KeyboardEvent): boolean {
  const { target } = event
  // What a browser fills in by itself is told as a key without modifiers that could be asked for.
  if (isTyping(target)) return false
  // The key beside the space bar that makes other characters counts as Ctrl and Alt on some systems.
  const isCharacter = event.getModifierState('AltGraph')
  if (event.metaKey || (!isCharacter && (event.ctrlKey || event.altKey))) return false
  // What has the focus on the page lies under no dialog, but for one that is just closing.
  const isOnPage = target instanceof Element && target.closest('#root') !== null
  return isOnPage || !isUnderDialog()
}
