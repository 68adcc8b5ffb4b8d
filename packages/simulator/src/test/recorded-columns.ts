/**
 * Columns as osquery's published schema lists them (5.20, tables not shown there by their newest
 * specification): all platforms together, in alphabetical order, hidden ones included. Text is the
 * default type. Typed from the specifications, not from the tables of this package.
 */
export const RECORDED_COLUMNS: Readonly<Record<string, string>> = {
  alf: 'allow_signed_enabled:integer firewall_unload:integer global_state:integer logging_enabled:integer logging_option:integer stealth_enabled:integer version',
  alf_exceptions: 'path state:integer',
  apparmor_profiles: 'attach mode name path sha1 sha256',
  apps: 'applescript_enabled bundle_executable bundle_identifier bundle_name bundle_package_type bundle_short_version bundle_version category compiler copyright development_region display_name element environment info_string last_opened_time:double minimum_system_version name path',
  augeas: 'label node path value',
  authenticode: 'issuer_name original_program_name path result serial_number subject_name',
  authorized_keys: 'algorithm comment key key_file options pid_with_namespace:integer uid:bigint',
  battery:
    'amperage:integer charged:integer charging:integer chemistry condition current_capacity:integer cycle_count:integer designed_capacity:integer health manufacture_date:integer manufacturer max_capacity:integer minutes_to_full_charge:integer minutes_until_empty:integer model percent_remaining:integer serial_number state voltage:integer',
  bitlocker_info:
    'conversion_status:integer device_id drive_letter encryption_method lock_status:integer percentage_encrypted:integer persistent_volume_id protection_status:integer version:integer',
  block_devices: 'block_size:integer label model name parent serial size:bigint type uuid vendor',
  certificates:
    'authority_key_id ca:integer common_name issuer issuer2 key_algorithm key_strength key_usage not_valid_after not_valid_before path self_signed:integer serial sha1 sid signing_algorithm store store_id store_location subject subject2 subject_key_id username',
  chrome_extensions:
    'author browser_type current_locale default_locale description from_webstore identifier install_time install_timestamp:bigint key manifest_hash manifest_json name optional_permissions optional_permissions_json path permissions permissions_json persistent:integer profile profile_path referenced:bigint referenced_identifier state uid:bigint update_url version',
  cpu_info:
    'address_width availability cpu_status:integer current_clock_speed:integer device_id load_percentage:integer logical_processors:integer manufacturer max_clock_speed:integer model number_of_cores number_of_efficiency_cores:integer number_of_performance_cores:integer processor_type socket_designation',
  crontab:
    'command day_of_month day_of_week event hour minute month path pid_with_namespace:integer',
  deb_packages:
    'admindir arch maintainer mount_namespace_id name pid_with_namespace:integer priority revision section size:bigint source status version',
  disk_encryption:
    'encrypted:integer encryption_status filevault_status name type uid user_uuid uuid',
  dns_resolvers: 'address id:integer netmask options:bigint pid_with_namespace:integer type',
  etc_hosts: 'address hostnames pid_with_namespace:integer',
  file: 'atime:bigint attributes block_size:integer bsd_flags btime:bigint ctime:bigint device:bigint directory file_id file_version filename gid:bigint hard_links:integer inode:bigint mode mount_namespace_id mtime:bigint original_filename path pid_with_namespace:integer product_version shortcut_comment shortcut_run shortcut_start_in shortcut_target_location shortcut_target_path shortcut_target_type size:bigint symlink:integer symlink_target_path type uid:bigint volume_serial',
  firefox_addons:
    'active:integer autoupdate:integer creator description disabled:integer identifier location name path source_url type uid:bigint version visible:integer',
  gatekeeper: 'assessments_enabled:integer dev_id_enabled:integer opaque_version version',
  groups:
    'comment gid:bigint gid_signed:bigint group_sid groupname is_hidden:integer pid_with_namespace:integer',
  hash: 'directory md5 mount_namespace_id path pid_with_namespace:integer sha1 sha256',
  homebrew_packages: 'app_name auto_updates:integer name path prefix type version',
  interface_addresses: 'address broadcast friendly_name interface mask point_to_point type',
  interface_details:
    'collisions:bigint connection_id connection_status description dhcp_enabled:integer dhcp_lease_expires dhcp_lease_obtained dhcp_server dns_domain dns_domain_suffix_search_order dns_host_name dns_server_search_order enabled:integer flags:integer friendly_name ibytes:bigint idrops:bigint ierrors:bigint interface ipackets:bigint last_change:bigint link_speed:bigint mac manufacturer metric:integer mtu:integer obytes:bigint odrops:bigint oerrors:bigint opackets:bigint pci_slot physical_adapter:integer service speed:integer type:integer',
  iptables:
    'bytes:integer chain dst_ip dst_mask dst_port filter_name iniface iniface_mask match outiface outiface_mask packets:integer policy protocol:integer src_ip src_mask src_port target',
  kernel_info: 'arguments device path version',
  kernel_modules: 'address name size:bigint status used_by',
  launchd:
    'disabled groupname inetd_compatibility keep_alive label name on_demand path process_type program program_arguments queue_directories root_directory run_at_load start_interval start_on_mount stderr_path stdout_path username watch_paths working_directory',
  listening_ports:
    'address family:integer fd:bigint net_namespace path pid:integer port:integer protocol:integer socket:bigint',
  logged_in_users: 'host pid:integer registry_hive sid time:bigint tty type user',
  logical_drives:
    'boot_partition:integer description device_id file_system free_space:bigint size:bigint type',
  managed_policies: 'domain manual:integer name username uuid value',
  memory_devices:
    'array_handle asset_tag bank_locator configured_clock_speed:integer configured_voltage:integer data_width:integer device_locator form_factor handle manufacturer max_speed:integer max_voltage:integer memory_type memory_type_details min_voltage:integer part_number serial_number set:integer size:integer total_width:integer',
  mounts:
    'blocks:bigint blocks_available:bigint blocks_free:bigint blocks_size:bigint device device_alias flags inodes:bigint inodes_free:bigint path type',
  npm_packages:
    'author description directory homepage license mount_namespace_id name path pid_with_namespace:integer version',
  os_version:
    'arch build codename extra install_date:bigint major:integer minor:integer mount_namespace_id name patch:integer pid_with_namespace:integer platform platform_like revision:integer version',
  osquery_flags: 'default_value description name shell_only:integer type value',
  osquery_info:
    'build_distro build_platform config_hash config_valid:integer extensions instance_id pid:integer platform_mask:integer start_time:integer uuid version watcher:integer',
  password_policy: 'policy_content policy_description policy_identifier uid:bigint',
  patches:
    'caption csname description fix_comments hotfix_id install_date installed_by installed_on',
  platform_info: 'address date extra revision size vendor version volume_size:integer',
  plist: 'key path subkey value',
  preferences: 'domain forced:integer host key subkey username value',
  process_namespaces:
    'cgroup_namespace ipc_namespace mnt_namespace net_namespace pid:integer pid_namespace user_namespace uts_namespace',
  process_open_sockets:
    'family:integer fd:bigint local_address local_port:integer net_namespace path pid:integer protocol:integer remote_address remote_port:integer socket:bigint state',
  processes:
    'cgroup_path cmdline cpu_subtype:integer cpu_type:integer cwd disk_bytes_read:bigint disk_bytes_written:bigint egid:bigint elapsed_time:bigint elevated_token:integer euid:bigint gid:bigint handle_count:bigint name nice:integer on_disk:integer parent:bigint path percent_processor_time:bigint pgroup:bigint pid:bigint protection_type resident_size:bigint root secure_process:integer sgid:bigint start_time:bigint state suid:bigint system_time:bigint threads:integer total_size:bigint translated:integer uid:bigint upid:bigint uppid:bigint user_time:bigint virtual_process:integer wired_size:bigint',
  programs:
    'identifying_number install_date install_location install_source language name package_family_name publisher uninstall_string upgrade_code version',
  python_packages:
    'author directory license name path pid_with_namespace:integer summary uid:bigint version',
  registry: 'data key mtime:bigint name path type',
  routes:
    'destination flags:integer gateway hopcount:integer interface metric:integer mtu:integer netmask:integer source type',
  rpm_packages:
    'arch epoch:integer install_time:integer mount_namespace_id name package_group pid_with_namespace:integer release sha1 size:bigint source vendor version',
  scheduled_tasks:
    'action enabled:integer hidden:integer last_run_code last_run_message last_run_time:bigint name next_run_time:bigint path state',
  screenlock: 'enabled:integer grace_period:integer',
  secureboot:
    'description kernel_extensions:integer mdm_operations:integer secure_boot:integer secure_mode:integer setup_mode:integer',
  security_profile_info:
    'audit_account_logon:integer audit_account_manage:integer audit_ds_access:integer audit_logon_events:integer audit_object_access:integer audit_policy_change:integer audit_privilege_use:integer audit_process_tracking:integer audit_system_events:integer clear_text_password:integer enable_admin_account:integer enable_guest_account:integer force_logoff_when_expire:integer lockout_bad_count:integer logon_to_change_password:integer lsa_anonymous_name_lookup:integer maximum_password_age:integer minimum_password_age:integer minimum_password_length:integer new_administrator_name new_guest_name password_complexity:integer password_history_size:integer',
  selinux_settings: 'key scope value',
  services:
    'description display_name module_path name path pid:integer service_exit_code:integer service_type start_type status user_account win32_exit_code:integer',
  shadow:
    'expire:bigint flag:bigint hash_alg inactive:bigint last_change:bigint max:bigint min:bigint password_status username warning:bigint',
  shared_folders: 'name path',
  shared_resources:
    'allow_maximum:integer description install_date maximum_allowed:bigint name path status type:bigint type_name',
  sharing_preferences:
    'bluetooth_sharing:integer content_caching:integer disc_sharing:integer file_sharing:integer internet_sharing:integer printer_sharing:integer remote_apple_events:integer remote_login:integer remote_management:integer screen_sharing:integer',
  signature:
    'arch authority cdhash entitlements hash_executable:integer hash_resources:integer identifier path signed:integer team_identifier',
  sip_config: 'config_flag enabled:integer enabled_nvram:integer',
  ssh_configs: 'block option ssh_config_file uid:bigint',
  startup_items: 'args name path source status type username',
  sudoers: 'header rule_details source',
  system_controls: 'config_value current_value name oid subsystem type',
  system_extensions:
    'UUID bundle_path category identifier mdm_managed:integer path state team version',
  system_info:
    'board_model board_serial board_vendor board_version computer_name cpu_brand cpu_logical_cores:integer cpu_microcode cpu_physical_cores:integer cpu_sockets:integer cpu_subtype cpu_type emulated_cpu_type hardware_model hardware_serial hardware_vendor hardware_version hostname local_hostname physical_memory:bigint uuid',
  systemd_units:
    'active_state description following fragment_path id job_id:bigint job_path job_type load_state object_path source_path sub_state unit_file_state user',
  time: 'datetime day:integer hour:integer iso_8601 local_timezone minutes:integer month:integer seconds:integer timestamp timezone unix_time:integer weekday win_timestamp:bigint year:integer',
  time_machine_destinations:
    'alias bytes_available:integer bytes_used:integer consistency_scan_date:integer destination_id encryption root_volume_uuid',
  tpm_info:
    'activated:integer enabled:integer manufacturer_id:integer manufacturer_name manufacturer_version owned:integer physical_presence_version product_name spec_version',
  uptime: 'days:integer hours:integer minutes:integer seconds:integer total_seconds:bigint',
  usb_devices:
    'class model model_id protocol removable:integer serial subclass usb_address:integer usb_port:integer vendor vendor_id version',
  user_groups: 'gid:bigint uid:bigint',
  user_ssh_keys:
    'encrypted:integer key_group_name key_length:integer key_security_bits:integer key_type path pid_with_namespace:integer uid:bigint',
  users:
    'description directory gid:bigint gid_signed:bigint include_remote:integer is_hidden:integer pid_with_namespace:integer shell type uid:bigint uid_signed:bigint username uuid',
  vscode_extensions:
    'installed_at:bigint name path prerelease:integer publisher publisher_id uid:bigint uuid version vscode_edition',
  wifi_networks:
    'add_reason added_at:integer auto_join:integer auto_login:integer captive_login_date:integer captive_portal:integer disabled:integer last_connected:integer last_connected_automatic:integer last_connected_manual:integer network_name passpoint:integer personal_hotspot:integer possibly_hidden:integer roaming:integer roaming_profile security_type ssid temporarily_disabled:integer was_captive_network:integer',
  windows_firewall_rules:
    'action app_name direction enabled:integer grouping icmp_types_codes local_addresses local_ports name profile_domain:integer profile_private:integer profile_public:integer protocol remote_addresses remote_ports service_name',
  windows_optional_features: 'caption name state:integer statename',
  windows_security_center:
    'antispyware antivirus autoupdate firewall internet_settings user_account_control windows_security_center_service',
  windows_security_products:
    'name remediation_path signatures_up_to_date:integer state state_timestamp type',
  windows_update_history:
    'client_app_id date:bigint description hresult:bigint operation result_code server_selection service_id support_url title update_id update_revision:bigint',
}
