import Glibc

/// The resources that this process holds.
struct Resources: CustomStringConvertible {
  var threads: Int
  var descriptors: Int
  var residentBytes: Int

  static var now: Resources {
    Resources(
      threads: count("/proc/self/task"), descriptors: count("/proc/self/fd"),
      residentBytes: residentPages() * sysconf(Int32(_SC_PAGESIZE)))
  }

  /// The processor time used so far by all threads.
  static var processorTime: Duration {
    var usage = rusage()
    unsafe getrusage(CInt(RUSAGE_SELF.rawValue), &usage)
    let micro = { (time: timeval) in Duration.seconds(time.tv_sec) + .microseconds(time.tv_usec) }
    return micro(usage.ru_utime) + micro(usage.ru_stime)
  }

  /// How often threads of this process went to sleep.
  static var switches: Int {
    var usage = rusage()
    unsafe getrusage(CInt(RUSAGE_SELF.rawValue), &usage)
    return usage.ru_nvcsw
  }

  /// The number of page faults.
  static var pageFaults: Int {
    var usage = rusage()
    unsafe getrusage(CInt(RUSAGE_SELF.rawValue), &usage)
    return usage.ru_minflt
  }

  var description: String {
    "threads=\(threads) descriptors=\(descriptors) rss_kib=\(residentBytes / 1024)"
  }

  private static func count(_ folder: String) -> Int {
    guard let stream = unsafe opendir(folder) else { return 0 }
    defer { _ = unsafe closedir(stream) }
    var count = -2
    while unsafe readdir(stream) != nil { count += 1 }
    return count
  }

  private static func residentPages() -> Int {
    let file = unsafe open("/proc/self/statm", O_RDONLY)
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: 256)
    // In bounds: at most as many bytes as the buffer has. The buffer outlives the call.
    let length = unsafe bytes.withUnsafeMutableBytes { buffer in
      unsafe read(file, buffer.baseAddress, buffer.count)
    }
    let text = String(decoding: bytes.prefix(max(length, 0)), as: UTF8.self)
    let fields = text.split(separator: " ")
    return fields.count > 1 ? Int(fields[1]) ?? 0 : 0
  }
}
