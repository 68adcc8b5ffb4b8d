import { ActionIcon, Menu } from '@mantine/core'
import { KebabHorizontalIcon } from '@primer/octicons-react'
import type { ReactNode } from 'react'

interface MoreMenuProps {
  /** Such as `Actions of Gateway`. */
  readonly label: string
  readonly isDisabled?: boolean
  /** Items of a `Menu` of Mantine. */
  readonly children: ReactNode
}

/** The menu behind the three dots: what can be done besides. */
export function MoreMenu({ label, isDisabled = false, children }: MoreMenuProps) {
  return (
    <Menu position="bottom-end" width={220}>
      <Menu.Target>
        <ActionIcon aria-label={label} disabled={isDisabled}>
          <KebabHorizontalIcon />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>{children}</Menu.Dropdown>
    </Menu>
  )
}
