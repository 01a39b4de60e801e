
;
xPlaceholder*
dtype0*
shape:ÿÿÿÿÿÿÿÿÿ
8

rfft/ConstConst*
dtype0*
valueB:
=
rfft/fft_lengthConst*
dtype0*
valueB:
=
rfftRFFTxrfft/fft_length*
Tcomplex0*
Treal0
*
y
ComplexAbsrfft*

Tout0*
T0"ª