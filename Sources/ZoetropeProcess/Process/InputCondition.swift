/// The outcome for an input, in manifests and summaries.
package enum InputCondition: String, Hashable, Sendable, CaseIterable {
  /// Nothing is lost.
  case ok
  /// Frames or pixels are missing.
  case damaged
  /// It could not be read, or its frames could not be decoded.
  case unreadable
  /// It could be read, but the request could not be carried out, for example because the selection has no frames or
  /// output cannot be written.
  case failed

  package init(hasLosses: Bool) { self = hasLosses ? .damaged : .ok }

  package init(_ failure: CommandFailure) {
    switch failure.status {
    case .undecodable, .limit, .damaged: self = .unreadable
    default: self = .failed
    }
  }
}
