import Glibc
import SystemPackage

/// A terminal without a screen, and the tool running on it.
///
/// Every wait ends when what is waited for has come, or after ten seconds.
final class Pseudoterminal {
  private let master: Int32
  /// Kept open so that the line settings can be read when the tool has gone.
  private let slave: Int32
  private var process = pid_t()
  private(set) var output: [UInt8] = []
  private let settingsBefore: String

  /// Starts `program` on a terminal of its own, as the leader of a session.
  init(_ program: String, _ arguments: [String]) throws {
    // What `posix_openpt`, `unlockpt` and `ptsname` do; Swift does not see those here.
    master = unsafe open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
    var lock: Int32 = 0
    var number: Int32 = 0
    guard master >= 0, unsafe ioctl(master, UInt(0x4004_5431), &lock) == 0,
      unsafe ioctl(master, UInt(0x8004_5430), &number) == 0
    else { throw Errno(rawValue: errno) }
    let path = "/dev/pts/\(number)"
    slave = unsafe open(path, O_RDWR | O_NOCTTY | O_CLOEXEC)
    guard slave >= 0 else { throw Errno(rawValue: errno) }
    var size = winsize(ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0)
    _ = unsafe ioctl(slave, UInt(TIOCSWINSZ), &size)
    settingsBefore = Self.settings(slave)
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    for standard in Int32(0)...2 {
      unsafe posix_spawn_file_actions_addopen(&actions, standard, path, O_RDWR, 0)
    }
    let command =
      ["setsid", "-c", "env", "-u", "TMUX", "TERM=xterm-256color", program] + arguments
    var pointers = unsafe command.map { unsafe strdup($0) } + [nil]
    defer { unsafe pointers.forEach { unsafe free($0) } }
    let result = unsafe posix_spawnp(&process, "setsid", &actions, nil, &pointers, environ)
    guard result == 0 else { throw Errno(rawValue: result) }
  }

  deinit {
    close(master)
    close(slave)
  }

  private static func settings(_ descriptor: Int32) -> String {
    var settings = termios()
    _ = unsafe tcgetattr(descriptor, &settings)
    return "\(settings.c_iflag) \(settings.c_oflag) \(settings.c_lflag) \(settings.c_cflag)"
  }

  /// Whether the line settings are what they were at the start.
  var isRestored: Bool { Self.settings(slave) == settingsBefore }

  /// Takes what the tool has written, waiting at most `milliseconds` for it.
  private func take(_ milliseconds: Int32) {
    var request = pollfd(fd: master, events: Int16(POLLIN), revents: 0)
    guard unsafe poll(&request, 1, milliseconds) > 0 else { return }
    var block = [UInt8](repeating: 0, count: 65536)
    let count = unsafe read(master, &block, block.count)
    if count > 0 { output += block[..<count] }
  }

  private func wait(_ isDone: () -> Bool) -> Bool {
    let deadline = ContinuousClock.now + .seconds(10)
    while !isDone() {
      if ContinuousClock.now > deadline { return false }
      take(10)
    }
    return true
  }

  /// Waits until the tool has written `text`.
  func waitFor(_ text: String) -> Bool { wait { has(text) } }

  /// Whether the tool has written `text`.
  func has(_ text: String) -> Bool { String(decoding: output, as: UTF8.self).contains(text) }

  func type(_ text: String) {
    let bytes = Array(text.utf8)
    _ = unsafe write(master, bytes, bytes.count)
  }

  func send(_ number: Int32) { kill(process, number) }

  /// Waits for the end; nil when it does not come, 128 + the signal when one ended the tool.
  func end() -> Int32? {
    var status: Int32 = 0
    guard wait({ unsafe waitpid(process, &status, WNOHANG) == process }) else {
      kill(process, SIGKILL)
      _ = unsafe waitpid(process, &status, 0)
      return nil
    }
    take(0)
    return status & 0x7f == 0 ? status >> 8 & 0xff : 128 + status & 0x7f
  }
}
