// Keys of the Windows registry as osquery spells them.
const LOCAL_MACHINE = String.raw`HKEY_LOCAL_MACHINE\SOFTWARE`
export const CURRENT_VERSION = String.raw`${LOCAL_MACHINE}\Microsoft\Windows\CurrentVersion`
export const SYSTEM_POLICIES = String.raw`${CURRENT_VERSION}\Policies\System`
export const EXPLORER_POLICIES = String.raw`${CURRENT_VERSION}\Policies\Explorer`
export const WINLOGON = String.raw`${LOCAL_MACHINE}\Microsoft\Windows NT\CurrentVersion\Winlogon`
export const AU_POLICY = String.raw`${LOCAL_MACHINE}\Policies\Microsoft\Windows\WindowsUpdate\AU`
export const CONTROL = String.raw`HKEY_LOCAL_MACHINE\SYSTEM\CurrentControlSet\Control`
export const SERVICES = String.raw`HKEY_LOCAL_MACHINE\SYSTEM\CurrentControlSet\Services`
export const DESKTOP = String.raw`HKEY_USERS\{sid}\Control Panel\Desktop`
export const ENROLMENTS = String.raw`${LOCAL_MACHINE}\Microsoft\Enrollments`
export const ENROLMENT_ID = '10A6B5B1-9D53-4C3F-8E21-2F9C8D1B7A01'
export const ENROLMENT = `${ENROLMENTS}\\${ENROLMENT_ID}`
export const POWERSHELL = String.raw`${LOCAL_MACHINE}\Microsoft\PowerShell\1\ShellIds\Microsoft.PowerShell`
export const REAL_TIME = String.raw`${LOCAL_MACHINE}\Microsoft\Windows Defender\Real-Time Protection`
export const AUTO_UPDATE = String.raw`${CURRENT_VERSION}\WindowsUpdate\Auto Update`
export const TIME_PARAMETERS = String.raw`${SERVICES}\W32Time\Parameters`
