/* The views of a list, in its toolbar: one is chosen, what is shown is saved under a name, and they are managed. */
import { ActionIcon, Menu, Text, Tooltip } from '@mantine/core'
import {
  BookmarkFillIcon,
  BookmarkIcon,
  PencilIcon,
  PeopleIcon,
  PlusIcon,
} from '@primer/octicons-react'
import { useRef, useState } from 'react'
import { isShown, useOpenView, useSavedViews, useShownView } from './saved-view-query.ts'
import { ManageViewsDialog, SaveViewDialog } from './saved-view-dialogs.tsx'
import { texts } from './texts.ts'

interface ViewMenuProps {
  /** The path of the list in the API. */
  readonly list: string
  /** The ids of the columns that are shown. */
  readonly columns: readonly string[]
}

export function ViewMenu({ list, columns }: ViewMenuProps) {
  const views = useSavedViews().filter((view) => view.list === list)
  const shown = useShownView(list, columns)
  const openView = useOpenView()
  const [dialog, setDialog] = useState<'save' | 'manage'>()
  const button = useRef<HTMLButtonElement>(null)
  const current = views.find((view) => isShown(view, shown))
  const label = current === undefined ? texts.views : texts.viewOf(current.name)
  const close = () => setDialog(undefined)
  return (
    <>
      {/* Around the button it would keep from it what the menu says of itself. */}
      <Tooltip label={label} target={button} />
      <Menu position="bottom-end" width={260}>
        <Menu.Target>
          <ActionIcon ref={button} aria-label={label}>
            {current === undefined ? <BookmarkIcon size={16} /> : <BookmarkFillIcon size={16} />}
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown mah={420} style={{ overflowY: 'auto' }}>
          <Menu.Label>{views.length === 0 ? texts.noViews : texts.views}</Menu.Label>
          {views.map((view, index) => (
            <Menu.RadioItem
              key={view.id}
              // The keyboard goes on in the menu.
              data-autofocus={index === 0 || undefined}
              value={view.id}
              checked={view.id === current?.id}
              closeMenuOnClick
              rightSection={view.shared ? <PeopleIcon size={14} aria-label={texts.shared} /> : null}
              onChange={() => openView(view)}
            >
              <Text size="sm" truncate>
                {view.name}
              </Text>
            </Menu.RadioItem>
          ))}
          <Menu.Divider />
          <Menu.Item
            leftSection={<PlusIcon size={14} />}
            data-autofocus={views.length === 0 || undefined}
            onClick={() => setDialog('save')}
          >
            {texts.saveView}
          </Menu.Item>
          {views.length === 0 ? null : (
            <Menu.Item leftSection={<PencilIcon size={14} />} onClick={() => setDialog('manage')}>
              {texts.manageViews}
            </Menu.Item>
          )}
        </Menu.Dropdown>
      </Menu>
      <SaveViewDialog shown={shown} isOpen={dialog === 'save'} onClose={close} />
      <ManageViewsDialog views={views} shown={shown} isOpen={dialog === 'manage'} onClose={close} />
    </>
  )
}
