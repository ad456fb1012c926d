import ArgumentParser

/// The option for the number of threads, shared by all commands that write on several threads.
struct ThreadArguments: ParsableArguments {
  @Option(
    name: [.customShort("j", allowingJoined: true), .long], parsing: .unconditional,
    help: "The number of threads. (default: one per processor)")
  var jobs: Int?

  func validate() throws {
    guard (1...1024).contains(jobs ?? 1) else {
      throw ValidationError("--jobs must be a number from 1 to 1024")
    }
  }

  /// The number of threads, or 0 for one per processor.
  var count: Int { jobs ?? 0 }
}
