/// How far a load is, from ``FrameLoader``.
public enum LoadingPhase: Sendable {
  /// The bytes are being fetched; from 0 to 1, nil while nothing is known.
  case loading(Double?)
  /// The first frame. Comes once; twice when fetched bytes turn out to have changed since a cached one
  /// was shown. (A file is looked at before its cached poster is shown.)
  case poster(Bitmap)
  /// The image is an animation and ready to play: take its ``FrameScheduler/frames()``. The last
  /// phase of a load that succeeds; a still picture ends with its poster.
  case playing(FrameScheduler<ContinuousClock>)
  /// The load ended with an error: the last phase. A load that is cancelled ends without it.
  case failed(AnimatedImageError)
}
