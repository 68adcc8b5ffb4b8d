import { useEffect } from 'react'

/**
 * Gives the focus from an item of a menu that is chosen back to the button of the menu, which some browsers give none
 * when it is clicked. A dialog that the item opens returns it there once it is closed: the item itself is gone by then.
 */
export function useMenuFocus(): void {
  useEffect(() => {
    const give = ({ target }: MouseEvent) => {
      const item = target instanceof Element ? target.closest('[role=menuitem]') : null
      const menu = item?.closest('[role=menu]')
      if (!menu) return
      const button = document.querySelector<HTMLElement>(`[aria-controls="${menu.id}"]`)
      button?.focus({ preventScroll: true })
    }
    document.addEventListener('click', give, { capture: true })
    return () => document.removeEventListener('click', give, { capture: true })
  }, [])
}
