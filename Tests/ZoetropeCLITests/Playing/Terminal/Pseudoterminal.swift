import Glibc
import SystemPackage

/// A terminal, and the tool running on it.
///
/// Every wait ends when its condition holds, or after two minutes, because everything takes long on a busy machine.
final class Pseudoterminal {
  private var master: Int32
  /// Kept open so that the line settings can be read when the tool has gone.
  private let slave: Int32
  private var process = pid_t()
  private let settingsBefore: String
  private(set) var model: TerminalModel
  /// Everything that was written.
  private(set) var output: [UInt8] = []
  /// How many bytes are read per second; nil for no limit.
  var rate: Double?
  private var taken = 0.0
  private var startedTaking = ContinuousClock.now

  /// Starts `program` on a terminal of its own, as the leader of a session.
  ///
  /// Signals that `blocking` names are blocked in it when it starts.
  init(
    _ program: String, _ arguments: [String], model: TerminalModel = TerminalModel(),
    environment: [String] = ["TERM=xterm-256color"], directory: String = ".",
    blocking: [Int32] = []
  ) throws {
    self.model = model
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
    settingsBefore = Self.settings(slave)
    setSize()
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    for standard in Int32(0)...2 {
      unsafe posix_spawn_file_actions_addopen(&actions, standard, path, O_RDWR, 0)
    }
    // The threads that run tests block signals, and a mask is inherited.
    var attributes = posix_spawnattr_t()
    unsafe posix_spawnattr_init(&attributes)
    defer { unsafe posix_spawnattr_destroy(&attributes) }
    var mask = sigset_t()
    unsafe sigemptyset(&mask)
    for number in blocking { unsafe sigaddset(&mask, number) }
    unsafe posix_spawnattr_setsigmask(&attributes, &mask)
    unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
    let cleared = ["TMUX", "COLORTERM", "NO_COLOR", "SSH_CONNECTION", "SSH_TTY", "TERM_PROGRAM"]
    // On a busy machine this terminal answers late: the tool waits, and other programs as over SSH.
    let patient =
      model.answers == .none ? [] : ["SSH_TTY=\(path)", "ZOETROPE_TERMINAL_PATIENCE=100"]
    let command =
      ["setsid", "-c", "env", "-C", directory] + cleared.flatMap { ["-u", $0] } + environment
      + patient + [program] + arguments
    var pointers = unsafe command.map { unsafe strdup($0) } + [nil]
    defer { unsafe pointers.forEach { unsafe free($0) } }
    let result = unsafe posix_spawnp(
      &process, "setsid", &actions, &attributes, &pointers, environ)
    guard result == 0 else { throw Errno(rawValue: result) }
  }

  deinit {
    if process > 0 {
      kill(process, SIGKILL)
      _ = waitpid(process, nil, 0)
    }
    hangUp()
    close(slave)
  }

  private static func settings(_ descriptor: Int32) -> String {
    var settings = termios()
    _ = unsafe tcgetattr(descriptor, &settings)
    return "\(settings.c_iflag) \(settings.c_oflag) \(settings.c_lflag) \(settings.c_cflag)"
  }

  private func setSize() {
    var size = winsize(
      ws_row: UInt16(model.rows), ws_col: UInt16(model.columns), ws_xpixel: 0, ws_ypixel: 0)
    _ = unsafe ioctl(slave, UInt(TIOCSWINSZ), &size)
  }

  /// Gives the terminal another size; the tool gets SIGWINCH.
  func resize(columns: Int, rows: Int) {
    model.resize(columns: columns, rows: rows)
    setSize()
  }

  /// Whether the line settings are what they were at the start.
  var isRestored: Bool { Self.settings(slave) == settingsBefore }

  /// Takes what the tool has written, waiting at most `milliseconds` for it.
  private func take(_ milliseconds: Int32) {
    var request = pollfd(fd: master, events: Int16(POLLIN), revents: 0)
    guard unsafe poll(&request, 1, milliseconds) > 0 else { return }
    // Few updates at a time, so that the model also sees what is on the screen only for a moment.
    var limit = 1024
    if let rate {
      let seconds = startedTaking.duration(to: .now) / .seconds(1)
      limit = min(Int(seconds * rate - taken), 512)
      if limit < 1 {
        _ = poll(nil, 0, 2)
        return
      }
    }
    var block = [UInt8](repeating: 0, count: limit)
    let count = unsafe read(master, &block, block.count)
    guard count > 0 else { return }
    taken += Double(count)
    output += block[..<count]
    model.apply(block[..<count])
    let replies = model.takeReplies()
    if !replies.isEmpty { _ = unsafe write(master, replies, replies.count) }
  }

  /// Takes output until `isDone`; false when that does not happen in time.
  func wait(for time: Duration = .seconds(120), _ isDone: () -> Bool) -> Bool {
    let deadline = ContinuousClock.now + time
    while !isDone() {
      if ContinuousClock.now > deadline { return false }
      take(5)
    }
    return true
  }

  /// From now on takes `rate` bytes a second.
  func slowDown(to rate: Double) {
    self.rate = rate
    (taken, startedTaking) = (0, .now)
  }

  /// Takes output until `isThere` holds, which is checked whenever there is new output.
  private func waitForOutput(_ isThere: () -> Bool) -> Bool {
    var count = -1
    return wait {
      defer { count = output.count }
      return output.count != count && isThere()
    }
  }

  /// Waits until the tool has written `text`.
  func waitFor(_ text: String) -> Bool { waitForOutput { has(text) } }

  /// Waits until the screen shows `text`.
  func waitToShow(_ text: String) -> Bool { waitForOutput { model.screen.contains(text) } }

  /// Whether the tool has written `text`.
  func has(_ text: String) -> Bool {
    let pattern = Array(text.utf8)
    return unsafe output.withUnsafeBytes { output in
      // The library's search, byte by byte through a protocol, takes most of a test in debug builds.
      guard let base = output.baseAddress else { return false }
      var start = 0
      while start + pattern.count <= output.count {
        let left = output.count - start
        guard let place = unsafe memchr(base + start, Int32(pattern[0]), left) else { break }
        start = unsafe base.distance(to: place)
        guard start + pattern.count <= output.count else { break }
        if unsafe memcmp(place, pattern, pattern.count) == 0 { return true }
        start += 1
      }
      return false
    }
  }

  func type(_ text: String) {
    let bytes = Array(text.utf8)
    _ = unsafe write(master, bytes, bytes.count)
  }

  /// Whether the tool, which reads without line editing, has taken what was typed. Changes no settings.
  var isInputTaken: Bool {
    var count: Int32 = 1
    return unsafe ioctl(slave, UInt(FIONREAD), &count) == 0 && count == 0
  }

  /// How many bytes of input nobody has read.
  var unread: Int32 {
    var count: Int32 = 0
    // Read without line editing, or the kernel counts only whole lines.
    var settings = termios()
    _ = unsafe tcgetattr(slave, &settings)
    settings.c_lflag &= ~tcflag_t(ICANON)
    _ = unsafe tcsetattr(slave, TCSANOW, &settings)
    _ = unsafe ioctl(slave, UInt(FIONREAD), &count)
    return count
  }

  /// Overwrites the screen behind the tool's back.
  func smear() { model.apply(Array("\u{1B}[3;3Hsmeared".utf8)) }

  /// Whether a thread of the tool runs or waits for a processor or a disk.
  private var isBusy: Bool {
    guard let tasks = unsafe opendir("/proc/\(process)/task") else { return false }
    defer { unsafe closedir(tasks) }
    while let entry = unsafe readdir(tasks) {
      let file = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { name in
        let number = unsafe String(decoding: name.prefix { $0 != 0 }, as: UTF8.self)
        return unsafe open("/proc/\(process)/task/\(number)/stat", O_RDONLY | O_CLOEXEC)
      }
      guard file >= 0 else { continue }
      defer { close(file) }
      var text = [UInt8](repeating: 0, count: 512)
      let count = unsafe read(file, &text, text.count)
      // The letter of the state follows the name, which is in parentheses.
      guard count > 0, let end = text[..<count].lastIndex(of: UInt8(ascii: ")")), end + 2 < count
      else { continue }
      if !"SIT".utf8.contains(text[end + 2]) { return true }
    }
    return false
  }

  /// Waits until the tool has slept and written nothing for so many milliseconds. A tool that waits for a processor is
  /// not done yet, however long that takes.
  func settle(_ milliseconds: Int = 300) -> Bool {
    var count = output.count
    var since = ContinuousClock.now
    return wait {
      if output.count != count || isBusy { (count, since) = (output.count, .now) }
      return since.duration(to: .now) > .milliseconds(milliseconds)
    }
  }

  func send(_ number: Int32) { kill(process, number) }

  /// Closes the terminal's own end, as closing a window does.
  func hangUp() {
    if master >= 0 { close(master) }
    master = -1
  }

  /// Waits for the tool to end; returns its status, or 128 plus the number of the signal that ended it. Nil when it
  /// does not end.
  func end() -> Int32? {
    var status: Int32 = 0
    guard wait({ unsafe waitpid(process, &status, WNOHANG) == process }) else { return nil }
    process = -1
    // What it wrote last, which the terminal has taken already.
    rate = nil
    while master >= 0 {
      let count = output.count
      take(0)
      if output.count == count { break }
    }
    return status & 0x7f == 0 ? status >> 8 & 0xff : 128 + status & 0x7f
  }
}
