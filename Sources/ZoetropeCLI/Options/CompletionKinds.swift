import ArgumentParser

extension CompletionKind {
  /// Files that may be animations, and directories on the way to them.
  static var animations: CompletionKind { .file(extensions: ["gif", "png", "apng"]) }
}

// Values that are no plain enumerations tell the words that they begin with.
extension ProtocolArgument {
  static var defaultCompletionKind: CompletionKind { .list(allValueStrings) }
}

extension LateArgument {
  static var defaultCompletionKind: CompletionKind {
    .list(["skip", "stretch", "latest", "catchup"])
  }
}

extension LoopsArgument {
  static var defaultCompletionKind: CompletionKind { .list(["file", "inf", "1"]) }
}

extension TimingArgument {
  static var defaultCompletionKind: CompletionKind {
    .list(["browser", "exact", "ffmpeg", "imageio", "gtk"])
  }
}

extension BackdropArgument {
  static var defaultCompletionKind: CompletionKind {
    .list(["terminal", "checker", "black", "white"])
  }
}
