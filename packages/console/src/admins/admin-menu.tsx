/* What can be done to an admin, from the list and from its page. */
import { Menu, Text } from '@mantine/core'
import {
  CircleSlashIcon,
  LinkIcon,
  PencilIcon,
  PersonAddIcon,
  TrashIcon,
  type Icon,
} from '@primer/octicons-react'
import type { AdminUser } from '../api/generated/types.gen.ts'
import { MoreMenu } from '../kit/more-menu.tsx'
import { useMay } from '../shell/session.ts'
import type { AdminDialog } from './admin-dialogs.tsx'
import { nameOf } from './admin-state.tsx'
import { texts } from './texts.ts'

interface AdminMenuProps {
  readonly admin: AdminUser
  readonly onChoose: (admin: AdminUser, dialog: AdminDialog) => void
}

export function AdminMenu({ admin, onChoose }: AdminMenuProps) {
  const may = useMay('Manage Admins')
  const item = (dialog: AdminDialog, icon: Icon, label: string, refusal?: string) => (
    <AdminMenuItem
      icon={icon}
      label={label}
      isDisabled={!may || refusal !== undefined}
      refusal={may ? refusal : undefined}
      onClick={() => onChoose(admin, dialog)}
    />
  )
  return (
    <MoreMenu label={texts.actionsOf(nameOf(admin))}>
      {may ? null : <Menu.Label>{texts.mayNot}</Menu.Label>}
      {item('change', PencilIcon, texts.change)}
      {item('link', LinkIcon, texts.newLink, linkRefusalOf(admin))}
      {admin.deactivated_at === null
        ? item('deactivate', CircleSlashIcon, texts.deactivate)
        : item('take-back', PersonAddIcon, texts.takeBack)}
      {item('remove', TrashIcon, texts.remove)}
    </MoreMenu>
  )
}

/** Why an admin gets no link by the API; undefined when it does. */
function linkRefusalOf(admin: AdminUser): string | undefined {
  if (admin.deactivated_at !== null) return texts.linkNotForDeactivated
  return admin.ways_to_sign_in.length === 0 ? undefined : texts.linkNotNeeded
}

interface AdminMenuItemProps {
  readonly icon: Icon
  readonly label: string
  readonly isDisabled: boolean
  /** Why it is disabled, below the label. */
  readonly refusal: string | undefined
  readonly onClick: () => void
}

function AdminMenuItem({ icon: Shape, label, isDisabled, refusal, onClick }: AdminMenuItemProps) {
  return (
    <Menu.Item leftSection={<Shape />} disabled={isDisabled} onClick={onClick}>
      {label}
      {refusal === undefined ? null : (
        <Text size="xs" component="span" display="block" style={{ whiteSpace: 'normal' }}>
          {refusal}
        </Text>
      )}
    </Menu.Item>
  )
}
