import type { TableSources } from './table-definition.ts'

/** Tables and columns that only macOS has (osquery 5.20). */
export const DARWIN_TABLES: TableSources = {
  os_version: `extra`,
  disk_encryption: `uid user_uuid filevault_status`,
  users: `is_hidden:integer`,
  groups: `is_hidden:integer`,
  processes: `upid:bigint uppid:bigint cpu_type:integer cpu_subtype:integer translated:integer`,
  file: `bsd_flags`,
  signature: `path hash_resources:integer hash_executable:integer arch signed:integer identifier cdhash
    team_identifier authority entitlements`,
  cpu_info: `number_of_efficiency_cores:integer number_of_performance_cores:integer`,
  secureboot: `secure_mode:integer description kernel_extensions:integer mdm_operations:integer`,
  alf: `allow_signed_enabled:integer firewall_unload:integer global_state:integer
    logging_enabled:integer logging_option:integer stealth_enabled:integer version`,
  alf_exceptions: `path state:integer`,
  screenlock: `enabled:integer grace_period:integer`,
  preferences: `domain key subkey value forced:integer username host`,
  managed_policies: `domain! uuid! name value username manual:integer`,
  plist: `key subkey value path`,
  sharing_preferences: `screen_sharing:integer file_sharing:integer printer_sharing:integer
    remote_login:integer remote_management:integer remote_apple_events:integer
    internet_sharing:integer bluetooth_sharing:integer disc_sharing:integer
    content_caching:integer`,
  gatekeeper: `assessments_enabled:integer dev_id_enabled:integer version opaque_version`,
  sip_config: `config_flag enabled:integer enabled_nvram:integer`,
  apps: `name path bundle_executable bundle_identifier bundle_name bundle_short_version
    bundle_version bundle_package_type environment element compiler development_region
    display_name info_string minimum_system_version category applescript_enabled copyright
    last_opened_time:double`,
  launchd: `path name label program run_at_load keep_alive on_demand disabled username groupname
    stdout_path stderr_path start_interval program_arguments watch_paths queue_directories
    inetd_compatibility start_on_mount root_directory working_directory process_type`,
  homebrew_packages: `name path version type auto_updates:integer app_name prefix`,
  wifi_networks: `ssid network_name security_type last_connected:integer
    last_connected_automatic:integer last_connected_manual:integer passpoint:integer
    possibly_hidden:integer roaming:integer roaming_profile auto_login:integer
    temporarily_disabled:integer disabled:integer add_reason added_at:integer
    captive_portal:integer captive_login_date:integer was_captive_network:integer
    auto_join:integer personal_hotspot:integer`,
  password_policy: `uid:bigint policy_identifier policy_content policy_description`,
  shared_folders: `name path`,
  time_machine_destinations: `alias destination_id consistency_scan_date:integer root_volume_uuid
    bytes_available:integer bytes_used:integer encryption`,
  system_extensions: `path UUID state identifier version category bundle_path team
    mdm_managed:integer`,
}
