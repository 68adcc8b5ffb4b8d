/* What can be done to a stream or a webhook from its list and from its page. */
import { Menu } from '@mantine/core'
import {
  CircleSlashIcon,
  EyeIcon,
  PaperAirplaneIcon,
  PencilIcon,
  TrashIcon,
} from '@primer/octicons-react'
import type { UseMutationResult } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState, type ReactNode } from 'react'
import { ConfirmDialog } from '../kit/confirm.tsx'
import { MoreMenu } from '../kit/more-menu.tsx'

/** What the menu says, in the words of its folder. */
interface MenuWords {
  readonly actionsOf: (name: string) => string
  readonly view: string
  readonly edit: string
  readonly test: string
  readonly switchOn: string
  readonly switchOff: string
  readonly switchOffTitle: (name: string) => string
  readonly switchOffLabel: string
  readonly switchOffHelp: string
  readonly delete: string
  readonly deleteTitle: (name: string) => string
  readonly deleteLabel: string
  readonly deleteHelp: string
}

interface ReceiverMenuProps {
  readonly words: MenuWords
  readonly name: string
  /** Where its page is. */
  readonly path: string
  readonly isEnabled: boolean
  /** Whether the session may change it. */
  readonly may: boolean
  /** Stands at switching on. */
  readonly icon: ReactNode
  readonly onTest: () => void
  readonly toggle: UseMutationResult<unknown, Error, boolean>
  readonly remove: UseMutationResult<unknown, Error, void>
  /** More items below the first one. */
  readonly children?: ReactNode
}

export function ReceiverMenu(props: ReceiverMenuProps) {
  const { words, name, path, isEnabled, may, toggle, remove } = props
  const [dialog, setDialog] = useState<'delete' | 'switch-off'>()
  const close = () => setDialog(undefined)
  return (
    <>
      <MoreMenu label={words.actionsOf(name)}>
        <Menu.Item component={Link} to={path} leftSection={<EyeIcon />}>
          {words.view}
        </Menu.Item>
        {props.children}
        <Menu.Item
          component={Link}
          to={`${path}/edit`}
          leftSection={<PencilIcon />}
          disabled={!may}
        >
          {words.edit}
        </Menu.Item>
        <Menu.Item leftSection={<PaperAirplaneIcon />} disabled={!may} onClick={props.onTest}>
          {words.test}
        </Menu.Item>
        <Menu.Item
          leftSection={isEnabled ? <CircleSlashIcon /> : props.icon}
          disabled={!may}
          onClick={() => (isEnabled ? setDialog('switch-off') : toggle.mutate(true))}
        >
          {isEnabled ? words.switchOff : words.switchOn}
        </Menu.Item>
        <Menu.Divider />
        <Menu.Item
          color="red"
          leftSection={<TrashIcon />}
          disabled={!may}
          onClick={() => setDialog('delete')}
        >
          {words.delete}
        </Menu.Item>
      </MoreMenu>
      <ConfirmDialog
        isOpen={dialog === 'switch-off'}
        title={words.switchOffTitle(name)}
        label={words.switchOffLabel}
        isDanger
        isPending={toggle.isPending}
        error={toggle.error}
        onConfirm={() => toggle.mutate(false, { onSuccess: close })}
        onClose={close}
      >
        {words.switchOffHelp}
      </ConfirmDialog>
      <ConfirmDialog
        isOpen={dialog === 'delete'}
        title={words.deleteTitle(name)}
        label={words.deleteLabel}
        typed={name}
        isDanger
        isPending={remove.isPending}
        error={remove.error}
        onConfirm={() => remove.mutate(undefined, { onSuccess: close })}
        onClose={close}
      >
        {words.deleteHelp}
      </ConfirmDialog>
    </>
  )
}
